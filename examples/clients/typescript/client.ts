// A Talaria client in TypeScript: runs a turn, answers its approvals, sends a direct message and watches it. See docs/clients.md.
//
//   node --import tsx client.ts unix:$HOME/.talaria/run/gateway.sock run main "Hello there"
//   TALARIA_TOKEN=tal_... node --import tsx client.ts 127.0.0.1:7420 send main "Ping"
import { createInterface } from "node:readline/promises";
import { ApprovalChoice, connectTalaria, DeliveryState, TalariaError, TurnOutcome, type Prompt } from "talaria/client";

const [address = "", command = "", whom = "", words = ""] = process.argv.slice(2);
const token = process.env["TALARIA_TOKEN"];
const talaria = connectTalaria({ address, ...(token === undefined || token === "" ? {} : { token }) });

/** Asks on standard input whether a command may run. */
async function answer({ promptId, request }: Prompt): Promise<void> {
  if (request?.$case !== "approval") return;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const line = await lines.question(`${request.value.command}? [y/N] `);
  lines.close();
  const { APPROVAL_CHOICE_ONCE: yes, APPROVAL_CHOICE_DENY: no } = ApprovalChoice;
  await talaria.answerPrompt(promptId, { $case: "choice", value: line === "y" ? yes : no });
}

/** Prints the answer as it comes. A restart of the gateway in the middle does not show. */
async function run(agent: string, text: string): Promise<void> {
  for await (const step of talaria.runTurn({ agent, text, answersPrompts: true })) {
    if (step.kind === "text") process.stdout.write(step.text);
    else if (step.kind === "prompt") await answer(step.prompt);
    else if (step.kind === "ended") console.log(`\n${nameOf(TurnOutcome, step.turn.outcome)}`);
  }
}

/** Sends a message and prints its state at each change, up to its end. */
async function send(target: string, body: string): Promise<void> {
  const { deliveryId } = await talaria.sendMessage({ target, body });
  for await (const { state, reply } of talaria.watchDelivery(deliveryId)) {
    console.log(nameOf(DeliveryState, state), reply?.text ?? "");
  }
}

function nameOf(names: Readonly<Record<string, number>>, value: number): string {
  return Object.keys(names).find((name) => names[name] === value) ?? String(value);
}

try {
  await (command === "send" ? send(whom, words) : run(whom, words));
} catch (caught) {
  if (!(caught instanceof TalariaError)) throw caught;
  console.error(`${caught.reason}: ${caught.message}\n  ${caught.hint}`);
  process.exitCode = 1;
} finally {
  talaria.close();
}
