import { expect, test } from "vitest";

import { SessionServiceService } from "../../src/gen/talaria/gateway/v1/session_service.js";
import { ApprovalChoice } from "../../src/gen/talaria/types/v1/prompt.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { sessionOf, refusalOf, describeTurn } from "../kit/turnClient.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitUntil } from "../kit/waitFor.js";

const gateway = useTestGateway({ maxWorkers: 1 });

interface ChildRow {
  readonly session_id: string;
  readonly parent_session_id: string;
  readonly parent_execution_id: string;
  readonly child_depth: number;
  readonly state: string;
  readonly answer: string;
  readonly outcome: string | null;
  readonly input_id: string;
}

/** The children of an execution, as the store has them, in the order in which they were given. */
function childrenOf(executionId: string): readonly ChildRow[] {
  return gateway().rows<ChildRow>(
    `SELECT sessions.session_id, parent_session_id, parent_execution_id, child_depth, children.state, children.answer,
       inputs.outcome, children.input_id
     FROM children JOIN sessions USING (session_id) JOIN inputs USING (input_id)
     WHERE children.execution_id = ? ORDER BY inputs.sequence`,
    executionId,
  );
}

test("a parent with three children finishes under a cap of one worker, and each child is a turn of its own", async () => {
  const run = gateway().client.run("echo", "!child one | two | three\n!say done");
  const executionId = await run.started();
  const ended = await run.outcome();
  expect(ended).toMatchObject({ outcome: "COMPLETED" });
  expect(ended.answer).toBe("child: completed one\nchild: completed two\nchild: completed three\ndone");
  const children = childrenOf(executionId);
  expect(children.map(({ state, answer, outcome }) => [state, answer, outcome])).toEqual([
    ["succeeded", "one", "completed"],
    ["succeeded", "two", "completed"],
    ["succeeded", "three", "completed"],
  ]);
  const pids = gateway().rows<{ pid: number }>(
    `SELECT DISTINCT pid FROM launches JOIN executions USING (launch_id) JOIN sessions USING (session_id)
     WHERE parent_execution_id = ?`,
    executionId,
  );
  expect(pids).toHaveLength(3);
  expect(new Set(children.map(({ session_id: id }) => id)).size).toBe(3);
  const { owner } = gateway().rooms;
  await waitUntil("the slot is free", () => owner.counts().inUse === 0, owner.counts);
});

test("a child's session is left out of lists, readable, its author derived, and goes with its parent's", async () => {
  const { client } = gateway();
  const run = client.run("echo", "!child hello");
  const sessionId = await sessionOf(run);
  const executionId = await run.started();
  await run.outcome();
  const [child] = childrenOf(executionId);
  const childId = child?.session_id ?? "";
  const page = { agent: "echo", pageSize: 100, pageToken: "", states: [] };
  const listed = await unaryCall(client.client, SessionServiceService.listSessions, { ...page, parentSessionId: "" });
  expect(listed.sessions.map((one) => one.sessionId)).toContain(sessionId);
  expect(listed.sessions.map((one) => one.sessionId)).not.toContain(childId);
  const family = await unaryCall(client.client, SessionServiceService.listSessions, {
    ...page,
    parentSessionId: sessionId,
  });
  expect(family.sessions).toMatchObject([{ sessionId: childId, parentExecutionId: executionId, title: "hello" }]);
  const { messages } = await unaryCall(client.client, SessionServiceService.readTranscript, {
    sessionId: childId,
    pageSize: 0,
    pageToken: "",
  });
  expect(messages.map(({ text, author }) => [text, author?.id])).toEqual([
    ["hello", "agent:echo"],
    ["hello", "agent:echo"],
  ]);
  expect(await refusalOf(client.say(childId, "more"))).toBe("CHILD_SESSION");
  await released(sessionId);
  const watch = client.watch(childId);
  await watch.next("snapshot");
  await unaryCall(client.client, SessionServiceService.deleteSession, { requestId: "delete-family", sessionId });
  await watch.next("sessionDeleted");
  expect(gateway().rows("SELECT 1 FROM sessions WHERE session_id IN (?, ?)", sessionId, childId)).toEqual([]);
  expect(gateway().rows("SELECT 1 FROM messages WHERE session_id = ?", childId)).toEqual([]);
});

test("a child has children of its own, and theirs have none", async () => {
  const ended = await gateway().client.run("echo", "!child !child !say deep").outcome();
  expect(ended.answer).toBe("child: completed child: completed deep");
  const refused = await gateway().client.run("echo", "!child !child !child !say deeper").outcome();
  expect(refused).toMatchObject({ outcome: "COMPLETED" });
  expect(refused.answer).toContain("child failed: A child turn of a child turn has no children.");
});

test("a ninth child is refused and the turn goes on", async () => {
  const run = gateway().client.run("echo", "!child 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9\n!say on");
  const executionId = await run.started();
  const { answer, outcome } = await run.outcome();
  expect(outcome).toBe("COMPLETED");
  expect(answer.split("\n").filter((line) => line.startsWith("child: completed"))).toHaveLength(8);
  expect(answer).toContain("child: refused CHILD_LIMIT");
  expect(answer).toContain("on");
  expect(childrenOf(executionId)).toHaveLength(8);
});

test("a child whose worker dies answers its parent with the failure, and the turn goes on", async () => {
  const run = gateway().client.run("echo", "!child !crash | after");
  const { answer, outcome } = await run.outcome();
  expect(outcome).toBe("COMPLETED");
  expect(answer).toMatch(/^child: failed WORKER_EXITED\nchild: completed after$/);
});

test("Stop of a parent stops the child that runs and withdraws those that wait", async () => {
  const { client } = gateway();
  const run = client.run("echo", "!child !sleep 60000 | waiting | too");
  const executionId = await run.started();
  await childRuns(executionId);
  await client.stop(executionId);
  expect(await run.outcome()).toMatchObject({ outcome: "INTERRUPTED" });
  await released(await sessionOf(run));
  expect(childrenOf(executionId).map(({ state, outcome }) => [state, outcome])).toEqual([
    ["interrupted", "interrupted"],
    ["interrupted", "cancelled"],
    ["interrupted", "cancelled"],
  ]);
  expect(gateway().workerPids()).toEqual([]);
  const { turn } = await client.turn(childrenOf(executionId)[0]?.input_id ?? "");
  expect(describeTurn(turn).reason).toBe("PARENT_ENDED");
});

test("a parent that is lost takes its children with it, a deaf one too", async () => {
  const { client } = gateway();
  const run = client.run("echo", "!child !deaf^!say deaf^!sleep 60000 | waiting");
  const executionId = await run.started();
  await childRuns(executionId);
  const watch = client.watch(childrenOf(executionId)[0]?.session_id ?? "");
  if (!(await watch.next("snapshot")).runningText.includes("deaf")) await watch.saw("deaf");
  watch.cancel();
  const [parent] = gateway().rooms.owner.liveWorkers();
  process.kill(parent?.pid ?? 0, "SIGKILL");
  expect(await run.outcome()).toMatchObject({ outcome: "UNKNOWN" });
  await waitUntil("no child is left", () => gateway().workerPids().length === 0, gateway().workerPids);
  expect(childrenOf(executionId).map(({ outcome }) => outcome)).toEqual(["failed", "cancelled"]);
});

test("a child's prompt is shown to the viewers of its parent, does not hold the slot, and is answered by its id", async () => {
  const { client } = gateway();
  const run = client.run("echo", "!child !approve rm -rf build");
  const executionId = await run.started();
  const raised = await run.next("promptRaised");
  const [child] = childrenOf(executionId);
  expect(raised.sessionId).toBe(child?.session_id);
  // Both wait for a person: another turn runs under a cap of one.
  expect((await client.run("echo", "meanwhile").outcome()).answer).toBe("meanwhile");
  const sessionId = await sessionOf(run);
  expect((await client.prompts(sessionId)).map(({ promptId }) => promptId)).toEqual([raised.promptId]);
  const watch = client.watch(sessionId);
  expect((await watch.next("snapshot")).prompts.map(({ promptId }) => promptId)).toEqual([raised.promptId]);
  await client.choose(raised.promptId, ApprovalChoice.APPROVAL_CHOICE_ONCE);
  await watch.next("promptEnded");
  watch.cancel();
  expect((await run.outcome()).answer).toBe("child: completed approved: once");
});

test("a child of a headless turn is headless", async () => {
  const run = gateway().client.run("echo", "!child !approve rm", { headless: true, answersPrompts: false });
  expect((await run.outcome()).answer).toMatch(/^child: completed denied: /);
});

/** Waits until a child of an execution runs. */
async function childRuns(executionId: string): Promise<void> {
  const states = (): readonly { state: string }[] =>
    gateway().rows<{ state: string }>(
      "SELECT state FROM executions JOIN sessions USING (session_id) WHERE parent_execution_id = ?",
      executionId,
    );
  await waitUntil("a child runs", () => states().some(({ state }) => state === "adopted"), states);
}

/** Waits until a session is free again. */
async function released(sessionId: string): Promise<void> {
  const held = (): unknown[] =>
    gateway().rows("SELECT 1 FROM sessions WHERE session_id = ? AND running_execution_id IS NOT NULL", sessionId);
  await waitUntil("the session is free", () => held().length === 0, held);
}
