import { talaria } from "./command.mjs";
import { say, within } from "./narrator.mjs";

/** Waits for the end of a delivery. Returns the delivery as it ended. */
async function endOf(gateway, deliveryId) {
  const states = await within(
    `delivery ${deliveryId} ends`,
    talaria(gateway.home, ["dm", "watch", deliveryId], ({ state }) => say(`  ${stateName(state)}`)),
    25_000,
  );
  return states.at(-1);
}

/** @param {string} state */
function stateName(state) {
  return state.replace("DELIVERY_STATE_", "");
}

/** The newest delivery of `gateway` that an agent sent to `target`. */
async function sentTo(gateway, target) {
  const [deliveries] = await talaria(gateway.home, ["dm", "list"]);
  const found = deliveries.find((delivery) => delivery.target === target && delivery.sender.id.startsWith("agent:"));
  if (!found) throw new Error(`${gateway.name} has no delivery to ${target}`);
  return found;
}

/** @type {Map<string, string>} ids of `Bot Chat`s, which do not change */
const botChats = new Map();

/** The id of the `Bot Chat` of an agent. */
async function botChatOf(gateway, agent) {
  const key = `${gateway.name}/${agent}`;
  const known = botChats.get(key);
  if (known) return known;
  const [agents] = await talaria(gateway.home, ["agents"]);
  const id = agents.find(({ name }) => name === agent)?.botChatSessionId;
  if (!id) throw new Error(`${agent} of ${gateway.name} has no Bot Chat`);
  botChats.set(key, id);
  return id;
}

/** A turn whose answer is streamed word by word. */
export async function streamedTurn(gateway) {
  const text = "Good morning from a worker process of its own";
  say(`talaria run ada "${text}"`);
  let pieces = 0;
  let answer = "";
  const updates = await within(
    "the turn ends",
    talaria(gateway.home, ["run", "ada", text], (update) => {
      for (const { delta } of update.events?.events ?? []) {
        pieces += 1;
        answer += delta?.text ?? "";
        say(`  ${JSON.stringify(delta?.text)}`);
      }
    }),
  );
  const { turn } = updates.at(-1).turnEnded;
  if (turn.outcome !== "TURN_OUTCOME_COMPLETED") throw new Error(`the turn ended ${turn.outcome}`);
  if (answer !== text || pieces < 1) throw new Error(`the answer streamed was ${JSON.stringify(answer)}`);
  say(`completed: ${turn.result.finalResponse}`);
}

/** An agent sends a message in its turn; the reply comes back to it as an input. */
export async function messageWithReply(gateway, target, body) {
  say(`ada of ${gateway.name}, in a turn: message ${target}: "${body}"`);
  await talaria(gateway.home, ["dm", "send", "ada", `!dm ${target} ${body}`, "--wait"]);
  const { deliveryId } = await sentTo(gateway, target);
  const ended = await endOf(gateway, deliveryId);
  if (ended.state !== "DELIVERY_STATE_REPLIED") throw new Error(`the delivery ended ${ended.state}`);
  say(`reply by ${ended.hops?.map(({ gateway: name }) => name).join(" > ") || "this gateway"}: ${ended.reply.text}`);
  const reply = await within("the reply reaches ada", replyRow(gateway, `!dm ${target} ${body}`, ended.reply.text));
  say(`ada's Bot Chat, row ${reply.row}, from ${reply.author.id}: ${JSON.stringify(reply.text)}`);
}

/** The row of ada's `Bot Chat`, after the input that sent the message, that holds the reply. */
async function replyRow(gateway, input, text) {
  for (;;) {
    const rows = await talaria(gateway.home, ["sessions", "show", await botChatOf(gateway, "ada")]);
    const sent = rows.findLastIndex((row) => row.text === input && row.role === "MESSAGE_ROLE_USER");
    const found = rows.slice(sent + 1).find((row) => row.role === "MESSAGE_ROLE_USER" && row.text.includes(text));
    if (sent >= 0 && found) return found;
  }
}

/** A receiver dies between its acceptance of a message and the message's turn. */
export async function killedReceiver(sender, receiver, target) {
  const agent = target.split("/")[1];
  say(`${receiver.name}: ${agent} is busy (an input that sleeps)`);
  const [busy] = await talaria(receiver.home, ["dm", "send", agent, "!sleep 600000"]);
  await within("the sleep starts", untilState(receiver, busy.deliveryId, "DELIVERY_STATE_CLAIMED"));

  const body = "Are you still there?";
  const [sent] = await talaria(sender.home, ["dm", "send", target, body, "--from", "ada"]);
  const accepted = await within("the receiver accepts", untilState(sender, sent.deliveryId, "DELIVERY_STATE_CLAIMED"));
  say(
    `${sender.name}: ${stateName(accepted.state)}: accepted by ${accepted.hops.map(({ gateway }) => gateway).join(" > ")}`,
  );
  const { deliveryId: there } = accepted.hops.at(-1);
  const [waiting] = await talaria(receiver.home, ["dm", "show", there]);
  if (waiting.state !== "DELIVERY_STATE_QUEUED") throw new Error(`it does not wait there: ${waiting.state}`);
  say(`${receiver.name}: ${stateName(waiting.state)} behind the sleeping turn, on disk`);

  const killed = receiver.pid;
  await receiver.kill();
  say(`${receiver.name}: SIGKILL to process ${killed}`);
  const { epoch } = await receiver.start();
  say(`${receiver.name}: serving again as process ${receiver.pid}, epoch ${epoch}`);

  const ended = await endOf(sender, sent.deliveryId);
  if (ended.state !== "DELIVERY_STATE_REPLIED") {
    throw new Error(`the delivery ended ${ended.state}: ${ended.failure?.message ?? ""}`);
  }
  say(`reply: ${ended.reply.text}`);
  const parts = await talaria(receiver.home, ["sessions", "export", await botChatOf(receiver, agent)]);
  const turns = parts.filter(({ turn }) => turn?.deliveryId === there);
  const rows = parts.filter(({ message }) => message?.role === "MESSAGE_ROLE_USER" && message.text.includes(body));
  if (turns.length !== 1 || rows.length !== 1) {
    throw new Error(`it ran ${turns.length} times, with ${rows.length} rows in the transcript`);
  }
  say(`${receiver.name}: exactly one turn and one row for it in the transcript of ${agent}`);
}

/** Follows a delivery to a state. Returns the delivery there; throws where it ends otherwise. */
async function untilState(gateway, deliveryId, wanted) {
  const seen = await talaria(gateway.home, ["dm", "watch", deliveryId], ({ state }) => state === wanted && "enough");
  const last = seen.at(-1);
  if (last.state === wanted) return last;
  throw new Error(`the delivery ended ${last.state}: ${last.failure?.message ?? ""}`);
}
