// The two tasks of a run, and what came of them; all of it is read from the gateway's records.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DeliveryState, TurnOutcome } from "../../dist/client/index.js";
import { allDeliveries, botChatOf, callsOf, exportSession, untilSilent } from "./records.mjs";

/** What Bob is asked, with what he should answer. */
const CAPITALS = [
  ...[
    ["Peru", "Lima"],
    ["Norway", "Oslo"],
    ["Japan", "Tokyo"],
    ["Egypt", "Cairo"],
    ["Cuba", "Havana"],
  ],
  ...[
    ["France", "Paris"],
    ["Italy", "Rome"],
    ["Spain", "Madrid"],
    ["Greece", "Athens"],
    ["Kenya", "Nairobi"],
  ],
  ...[
    ["Chile", "Santiago"],
    ["Poland", "Warsaw"],
    ["Austria", "Vienna"],
    ["Portugal", "Lisbon"],
    ["Ireland", "Dublin"],
  ],
  ...[
    ["Finland", "Helsinki"],
    ["Sweden", "Stockholm"],
    ["Denmark", "Copenhagen"],
    ["Hungary", "Budapest"],
  ],
  ["Iceland", "Reykjavik"],
];

/** The agents: Ada is asked, Bob is whom she writes to. */
export const AGENTS = {
  ada: {
    config: { tools: ["read_file"], limits: { max_model_calls: 4 } },
    instructions: "You are Ada. Do what you are asked, with the tool that is named. Answer in one short sentence.",
  },
  bob: {
    config: { description: "knows the capitals of countries", tools: ["clarify"], limits: { max_model_calls: 4 } },
    instructions: "You are Bob. Answer the question in one short sentence.",
  },
};

/**
 * A turn that takes a tool: a code is in a file, and only there.
 * @param {import("./records.mjs").Talaria} talaria @param {string} home @param {number} run from 1
 */
export async function readTask(talaria, home, run) {
  const file = `notes-${String(run).padStart(2, "0")}.txt`;
  const code = String(4000 + ((run * 1237) % 5000));
  const workspace = join(home, "agents", "ada", "workspace");
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, file), `The code is ${code}.\n`);
  const text = `Read the code in the file ${file}. Use \`read_file\` with the path ${file}.`;
  let turn;
  for await (const step of talaria.runTurn({ agent: "ada", text })) if (step.kind === "ended") turn = step.turn;
  if (turn === undefined) throw new Error("the turn has no end");
  const { rows } = await exportSession(talaria, turn.sessionId);
  const calls = callsOf(rows, turn.executionId).filter(({ name }) => name === "read_file");
  const answer = turn.result?.finalResponse ?? "";
  return {
    completed: turn.outcome === TurnOutcome.TURN_OUTCOME_COMPLETED,
    called: calls.length > 0,
    valid: calls.some(({ args }) => args !== undefined),
    found: calls.some(({ result }) => result.includes(code)),
    answered: answer.includes(code),
    requests: turn.result?.apiCalls ?? 0,
    what: { calls: calls.map(({ args }) => args), answer },
  };
}

/**
 * A turn in Ada's `Bot Chat` in which she is to ask Bob, and everything that follows from it.
 * @param {import("./records.mjs").Talaria} talaria @param {number} run from 1
 */
export async function messageTask(talaria, run) {
  const [country = "", capital = ""] = CAPITALS[(run - 1) % CAPITALS.length] ?? [];
  const known = new Set((await allDeliveries(talaria)).map(({ deliveryId }) => deliveryId));
  const question = `What is the capital of ${country}?`;
  const body = `Use \`message_agent\` with the target bob and the message "${question}".`;
  const { deliveryId } = await talaria.sendMessage({ target: "ada", body });
  await untilSilent(talaria);
  const { turns, rows } = await exportSession(talaria, await botChatOf(talaria, "ada"));
  const turn = turns.find((one) => one.deliveryId === deliveryId);
  if (turn === undefined) throw new Error("Ada's Bot Chat has no turn for the message");
  const calls = callsOf(rows, turn.executionId).filter(({ name }) => name === "message_agent");
  const all = (await allDeliveries(talaria)).filter(
    (one) => !known.has(one.deliveryId) && one.deliveryId !== deliveryId,
  );
  const sent = all.find((one) => one.sender?.id === "agent:ada" && one.recipient?.agent === "bob");
  const told = sent && turns.find((one) => one.inReplyTo === sent.deliveryId);
  return {
    completed: turn.outcome === TurnOutcome.TURN_OUTCOME_COMPLETED,
    called: calls.length > 0,
    valid: calls.some(({ args }) => args !== undefined),
    sent: sent !== undefined,
    right: calls.some(({ args }) => args?.target === "bob" && String(args?.message).includes(country)),
    replied: sent?.state === DeliveryState.DELIVERY_STATE_REPLIED,
    correct: (sent?.reply?.text ?? "").includes(capital),
    told: told?.outcome === TurnOutcome.TURN_OUTCOME_COMPLETED,
    messages: all.length,
    requests: turn.result?.apiCalls ?? 0,
    what: {
      calls: calls.map(({ args, result }) => ({ args, result })),
      reply: sent?.reply?.text,
      told: told?.result?.finalResponse,
    },
  };
}
