import { expect, test } from "vitest";

import { Delivery } from "../../gen/talaria/dm/v1/delivery.js";
import { Destination, GetStatusResponse, Worker } from "../../gen/talaria/gateway/v1/admin_service.js";
import { Session } from "../../gen/talaria/gateway/v1/session.js";
import { ApprovalChoice, Prompt } from "../../gen/talaria/types/v1/prompt.js";
import type { Snapshot } from "./snapshot.js";
import { EMPTY_SCREEN, selectedPosition, stepTop, type Key, type TopAction, type TopState } from "./topState.js";

const approval = Prompt.fromPartial({
  promptId: "prm_1",
  request: { $case: "approval", value: { command: "rm -rf build\u001b[2J" } },
  offered: [ApprovalChoice.APPROVAL_CHOICE_ONCE, ApprovalChoice.APPROVAL_CHOICE_DENY],
});
const question = Prompt.fromPartial({
  promptId: "prm_2",
  request: { $case: "clarify", value: { question: { text: "Which?", choices: ["red", "blue"] } } },
});

function snapshot(more: Partial<Snapshot> = {}): Snapshot {
  return {
    at: 1_000_000,
    status: GetStatusResponse.fromPartial({}),
    workers: ["a", "b", "c"].map((id) => Worker.fromPartial({ launchId: id, executionId: `exe_${id}` })),
    sessions: [
      Session.fromPartial({ sessionId: "ses_1", pausedBehindExecutionId: "exe_9" }),
      Session.fromPartial({ sessionId: "ses_2", runningExecutionId: "exe_2" }),
    ],
    prompts: [approval, question],
    deliveries: [Delivery.fromPartial({ deliveryId: "del_1" })],
    destinations: [Destination.fromPartial({ name: "east" }), Destination.fromPartial({ name: "west", heldBy: "me" })],
    ...more,
  };
}

/** Types keys: characters, or names in angle brackets. */
function press(state: TopState, keys: string): { readonly state: TopState; readonly actions: readonly TopAction[] } {
  const actions: TopAction[] = [];
  let at = state;
  for (const [, name, text = ""] of keys.matchAll(/<(\w+)>|(.)/g)) {
    const key = { text, name: name as Key["name"] };
    const step = stepTop(at, { kind: "key", key });
    at = step.state;
    if (step.action !== undefined) actions.push(step.action);
  }
  return { state: at, actions };
}

const read = (more?: Partial<Snapshot>): TopState =>
  stepTop(EMPTY_SCREEN, { kind: "snapshot", snapshot: snapshot(more) }).state;

test.each<[string, string, TopAction[]]>([
  ["a worker's turn", "<down>s", [{ kind: "stop", executionId: "exe_b" }]],
  ["a session's turn", "2<down>s", [{ kind: "stop", executionId: "exe_2" }]],
  ["a paused session", "2a", [{ kind: "acknowledge", sessionId: "ses_1", executionId: "exe_9" }]],
  ["a delivery", "4c", [{ kind: "cancel", deliveryId: "del_1" }]],
  ["a dead letter", "4r", [{ kind: "redrive", deliveryId: "del_1" }]],
  ["a destination", "5h", [{ kind: "hold", destination: "east" }]],
  ["a held destination", "5jh", [{ kind: "release", destination: "west" }]],
  [
    "an approval",
    "3a2",
    [{ kind: "answer", promptId: "prm_1", answer: { $case: "choice", value: ApprovalChoice.APPROVAL_CHOICE_DENY } }],
  ],
  ["a choice", "3<down><return>1", [{ kind: "answer", promptId: "prm_2", answer: { $case: "text", value: "red" } }]],
  [
    "a text",
    "3<down>agreem<backspace>n<return>",
    [{ kind: "answer", promptId: "prm_2", answer: { $case: "text", value: "green" } }],
  ],
  ["nothing, by a letter of another view", "c", []],
  ["nothing, by text for an approval", "3ayes<return><escape>", []],
  ["the end", "q", [{ kind: "quit" }]],
  ["the end, in a dialog too", "3a<interrupt>", [{ kind: "quit" }]],
])("keys act on what is selected: %s", (_, keys, actions) => {
  expect(press(read(), keys).actions).toEqual(actions);
});

test("the selection stays with its row while others come and go", () => {
  const { state } = press(read(), "<down>");
  const gone = stepTop(state, {
    kind: "snapshot",
    snapshot: snapshot({ workers: ["b", "c"].map((id) => Worker.fromPartial({ launchId: id, executionId: id })) }),
  }).state;
  expect(selectedPosition(gone)).toBe(0);
  expect(press(gone, "s").actions).toEqual([{ kind: "stop", executionId: "b" }]);
});

test("a dialog ends with its prompt", () => {
  const { state } = press(read(), "3a");
  expect(state.dialog?.promptId).toBe("prm_1");
  const ended = stepTop(state, { kind: "snapshot", snapshot: snapshot({ prompts: [question] }) }).state;
  expect([ended.dialog, ended.notice]).toEqual([undefined, "The prompt has ended."]);
});

test("what was read stays while the gateway is away, and trouble ends with the next look", () => {
  const away = stepTop(read(), { kind: "unreachable", message: "gone" }).state;
  expect([away.trouble, away.snapshot?.workers.length]).toEqual(["gone", 3]);
  expect(stepTop(away, { kind: "snapshot", snapshot: snapshot() }).state.trouble).toBeUndefined();
});

test("keys before the first look do nothing", () => {
  expect(press(EMPTY_SCREEN, "s<down>3a2c5h<return>").actions).toEqual([]);
});

test("what an agent wrote cannot steer the terminal", () => {
  expect(press(read(), "3a").state.dialog?.question).toBe("run rm -rf build [2J");
});
