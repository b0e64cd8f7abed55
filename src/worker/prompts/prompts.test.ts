import { describe, expect, test } from "vitest";
import { systemRandom } from "../../base/random.js";
import { FakeClock } from "../../base/testing/fakeClock.js";
import { ApprovalChoice, ClarifyOutcome, PromptEnd, type ApprovalRequest } from "../../gen/talaria/types/v1/prompt.js";
import type { WorkerFrame } from "../frameSender.js";
import { createStopLatch } from "../stopLatch.js";
import { Approvals } from "./approvals.js";
import { Clarifications } from "./clarifications.js";
import { offeredChoices } from "./offeredChoices.js";
import { PromptTable } from "./promptTable.js";

function setUp(limit = 16) {
  const clock = new FakeClock();
  const stop = createStopLatch();
  const frames: WorkerFrame[] = [];
  const send = (frame: WorkerFrame): Promise<void> => {
    frames.push(frame);
    return Promise.resolve();
  };
  const table = new PromptTable({ send, clock, random: systemRandom, stopped: stop.signal, limit });
  const approvals = new Approvals({
    table,
    mode: "ask",
    redact: (text) => text,
    granted: [],
    headless: false,
    expiresMs: 1_000,
  });
  const clarifications = new Clarifications({ table, headless: false, expiresMs: 0 });
  const raised = (): string[] =>
    frames.flatMap((frame) => (frame.$case === "approval" || frame.$case === "clarify" ? [frame.value.promptId] : []));
  const settled = (): PromptEnd[] =>
    frames.flatMap((frame) => (frame.$case === "promptSettled" ? [frame.value.end] : []));
  return { clock, stop, frames, table, approvals, clarifications, raised, settled };
}

const {
  APPROVAL_CHOICE_ONCE: once,
  APPROVAL_CHOICE_SESSION: session,
  APPROVAL_CHOICE_ALWAYS: always,
  APPROVAL_CHOICE_DENY: deny,
} = ApprovalChoice;

function request(changes: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    command: "rm x",
    description: "",
    allowSession: true,
    allowPermanent: true,
    smartDenied: false,
    edit: undefined,
    ...changes,
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const question = (questionId: string) => ({ questionId, text: "?", choices: [], multiSelect: false });

test.each([
  [request(), [once, session, always, deny]],
  [request({ allowSession: false }), [once, always, deny]],
  [request({ allowPermanent: false }), [once, session, deny]],
  [request({ smartDenied: true }), [once, deny]],
  [request({ edit: { path: "a", diff: "" } }), [once, deny]],
])("choices follow the flags (%#)", (given, offered) => {
  expect(offeredChoices(given)).toEqual(offered);
});

describe("approvals", () => {
  test("identical requests share one prompt; session counts for all and for later ones", async () => {
    const { approvals, table, raised } = setUp();
    const asked = [approvals.ask(request()), approvals.ask(request())];
    await turn();
    expect(raised()).toHaveLength(1);
    table.settle(raised()[0]!, { kind: "answered", answer: session });
    expect((await Promise.all(asked)).map(({ allowed }) => allowed)).toEqual([true, true]);
    expect(await approvals.ask(request())).toMatchObject({ allowed: true, cause: "granted" });
    expect(raised()).toHaveLength(1);
  });

  test("once covers only the one that asked first", async () => {
    const { approvals, table, raised } = setUp();
    const first = approvals.ask(request());
    const second = approvals.ask(request());
    await turn();
    table.settle(raised()[0]!, { kind: "answered", answer: once });
    expect((await first).allowed).toBe(true);
    await turn();
    expect(raised()).toHaveLength(2);
    table.settle(raised()[1]!, { kind: "answered", answer: deny });
    expect((await second).allowed).toBe(false);
  });

  test("a choice that was not offered counts as a denial", async () => {
    const { approvals, table, raised } = setUp();
    const asked = approvals.ask(request({ smartDenied: true }));
    table.settle(raised()[0]!, { kind: "answered", answer: always });
    expect(await asked).toEqual({ allowed: false, choice: deny, cause: "answered" });
  });

  test("expiry denies, tells the owner and frees the slot; a late answer finds nothing", async () => {
    const { approvals, clock, raised, settled, table } = setUp();
    const asked = approvals.ask(request());
    clock.advance(1_000);
    expect(await asked).toMatchObject({ allowed: false, cause: "expired" });
    expect(settled()).toEqual([PromptEnd.PROMPT_END_EXPIRED]);
    expect(table.size).toBe(0);
    expect(table.settle(raised()[0]!, { kind: "answered", answer: once })).toBe(false);
    expect(clock.pending).toBe(0);
  });
});

describe("both kinds", () => {
  test("share one limit, and a surplus prompt is refused without a frame", async () => {
    const { approvals, clarifications, raised, table } = setUp(2);
    void approvals.ask(request());
    void clarifications.ask([question("a")]);
    expect(table.size).toBe(2);
    expect(await approvals.ask(request({ command: "other" }))).toMatchObject({ allowed: false, cause: "refused" });
    expect((await clarifications.ask([question("b")])).outcome).toBe(ClarifyOutcome.CLARIFY_OUTCOME_SKIPPED);
    expect(raised()).toHaveLength(2);
  });

  test("end with Stop, each told to the owner, and none is raised afterwards", async () => {
    const { approvals, clarifications, stop, settled, raised } = setUp();
    const approval = approvals.ask(request());
    const clarify = clarifications.ask([question("a"), question("b")]);
    stop.stop(1);
    expect(await approval).toEqual({ allowed: false, choice: undefined, cause: "stopped" });
    expect((await clarify).outcome).toBe(ClarifyOutcome.CLARIFY_OUTCOME_CANCELLED);
    expect(settled()).toEqual([PromptEnd.PROMPT_END_STOPPED, PromptEnd.PROMPT_END_STOPPED]);
    expect((await approvals.ask(request())).cause).toBe("stopped");
    expect(raised()).toHaveLength(2);
  });
});

describe("questions", () => {
  test("a batch keeps the answers before the one that ran out of time", async () => {
    const { table, clock, frames } = setUp();
    const clarifications = new Clarifications({ table, headless: false, expiresMs: 50 });
    const asked = clarifications.ask([question("a"), question("b"), question("c")]);
    const [first] = frames;
    table.settle(first?.$case === "clarify" ? first.value.promptId : "", {
      kind: "answered",
      answer: ` ${"y".repeat(20_000)}`,
    });
    await turn();
    clock.advance(50);
    const { outcome, answers, notice } = await asked;
    expect(outcome).toBe(ClarifyOutcome.CLARIFY_OUTCOME_TIMED_OUT);
    expect(Object.entries(answers)).toEqual([["a", "y".repeat(16_384)]]);
    expect(notice).not.toBe("");
  });

  test("a malformed batch is the runtime's mistake", async () => {
    const { clarifications } = setUp();
    await expect(clarifications.ask([])).rejects.toThrow(RangeError);
    await expect(clarifications.ask([question("a"), question("a")])).rejects.toThrow(RangeError);
  });
});
