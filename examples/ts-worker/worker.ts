// A worker in TypeScript. An agent whose agent.yaml says this runs it:
//
//   runtime: command
//   worker: { command: [node, --import, tsx, /path/to/examples/ts-worker/worker.ts] }
//
// It understands the words of docs/workers.md, which `talaria conformance worker` uses to try a worker.
import { setTimeout as pause } from "node:timers/promises";
import {
  ApprovalChoice,
  ConversationMessage,
  DeltaChannel,
  MessageRole,
  serveWorker,
  type Reason,
  type RuntimeAnswer,
  type WorkerTurn,
} from "talaria/worker";

const CHOICES: Readonly<Record<number, string>> = {
  [ApprovalChoice.APPROVAL_CHOICE_ONCE]: "once",
  [ApprovalChoice.APPROVAL_CHOICE_SESSION]: "session",
  [ApprovalChoice.APPROVAL_CHOICE_ALWAYS]: "always",
};

type Verb = (turn: WorkerTurn, rest: string) => Promise<RuntimeAnswer | string>;

const VERBS: Readonly<Record<string, Verb>> = {
  async tool(turn, rest) {
    const [, name = "", json = "", result = ""] = /^(\S+) (.*) => (.*)$/s.exec(rest) ?? [];
    const call = await turn.callTool({ name, arguments: JSON.parse(json), run: async () => result });
    return `${name}: ${call.result}`;
  },
  async approve(turn, command) {
    const ask = { command, description: "The example was told to ask.", allowSession: true, allowPermanent: true };
    const { allowed, choice, cause } = await turn.approve({ ...ask, smartDenied: false, edit: undefined });
    return allowed ? `approved: ${CHOICES[choice ?? 0] ?? cause}` : `denied: ${cause}`;
  },
  async ask(turn, rest) {
    const [text = "", ...choices] = rest.split(" | ");
    const { answers } = await turn.ask([{ questionId: "q1", text, choices, multiSelect: false }]);
    return answers["q1"] === undefined ? "unanswered" : `answered: ${answers["q1"]}`;
  },
  async sleep(turn, rest) {
    await pause(Number(rest), undefined, { signal: turn.signal });
    return "slept";
  },
  async append(turn, text) {
    const row = ConversationMessage.fromPartial({ role: MessageRole.MESSAGE_ROLE_ASSISTANT, text });
    const { firstRow } = await turn.store.persist({ $case: "appendMessages", value: { messages: [row] } });
    return `appended: row ${firstRow}`;
  },
  async repeat(_turn, rest) {
    const [, count = "0", text = ""] = /^(\d+) (.*)$/s.exec(rest) ?? [];
    return text.repeat(Number(count));
  },
  async flood(turn, rest) {
    const [count = 0, , bytes = 32] = rest.split(" ").map(Number);
    for (let sent = 0; sent < count; sent++) {
      turn.signal.throwIfAborted();
      await turn.emitText("x".repeat(bytes), DeltaChannel.DELTA_CHANNEL_REASONING);
    }
    return "flooded";
  },
  async fail(_turn, rest) {
    const [, reason = "", message = ""] = /^(\S+) (.*)$/s.exec(rest) ?? [];
    return { text: "", failure: { reason: reason as Reason, message } };
  },
};

await serveWorker({
  name: "ts-worker-example",
  version: "1.0.0",
  model: "none",
  async run(turn) {
    const { text } = turn.assignment.input;
    const [, verb = "", rest = ""] = /^!([a-z-]+) ?(.*)$/s.exec(text) ?? [];
    const obey = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
    const answer = obey === undefined ? text : await obey(turn, rest);
    if (typeof answer !== "string") return answer;
    // A long text goes in pieces, at the owner's pace.
    await turn.emitText(answer);
    return answer;
  },
});
