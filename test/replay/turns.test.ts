import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";

import { isAlive, readProcess } from "../../src/base/processTable.js";
import { AdminServiceService, type WatchEventsResponse } from "../../src/gen/talaria/gateway/v1/admin_service.js";
import { TurnPhase } from "../../src/gen/talaria/gateway/v1/turn_service.js";
import { ApprovalChoice, ClarifyRequest, PromptEnd } from "../../src/gen/talaria/types/v1/prompt.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import type { ForeignWorker } from "../kit/foreignWorkers.js";
import { StreamLog } from "../kit/streamLog.js";
import { refusalOf, sessionOf } from "../kit/turnClient.js";
import { beginRunningTurn, beginTurn } from "../kit/heldTurn.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { processGone as gone } from "../kit/useServe.js";

/** How long an approval waits here. */
const APPROVAL_MS = 2_000;

const workers = useForeignWorkers();
const [node = "", relay = "", path = ""] = workers.command;
const foreign = { runtime: "command", worker: { command: workers.command } };
const gateway = useTestGateway({
  agents: {
    echo: { runtime: "echo" },
    foreign,
    restless: { ...foreign, limits: { no_progress_ms: 1_500 } },
    launched: { runtime: "command", worker: { command: ["sh", "-c", '"$0" "$@"; exit $?', node, relay, path] } },
  },
  budgets: { approvalMs: APPROVAL_MS, heartbeatMissedMs: 3_000, exitAfterFinishedMs: 600 },
});

const begin = (agent?: string) => beginTurn(gateway(), workers, agent);
const beginRunning = (agent?: string) => beginRunningTurn(gateway(), workers, agent);

/** Keeps a worker's heart beating until the turn has ended. */
function beat(worker: ForeignWorker, until: Promise<unknown>): void {
  const timer = setInterval(() => {
    worker.send({ $case: "heartbeat", value: { loopDelayMs: 0, residentBytes: 0n, usage: undefined } });
  }, 100);
  const stop = (): void => {
    clearInterval(timer);
  };
  until.then(stop, stop);
}

test("OW-R8 a caller that leaves does not end its turn; the receipt is had by key", async () => {
  const { client, connect } = gateway();
  const requestId = randomUUID();
  const leaving = connect();
  const run = leaving.run("echo", "!ask Go on?\n!say kept", { requestId });
  const { promptId } = await run.next("promptRaised");
  run.cancel();
  await run.ended();
  const back = client.run("echo", "!ask Go on?\n!say kept", { requestId });
  expect((await back.next("promptRaised")).promptId).toBe(promptId);
  await client.reply(promptId, "yes");
  expect(await back.outcome()).toMatchObject({ outcome: "COMPLETED", reason: "" });
});

test("OW-R9 OW-R2 F21 a loss inside a tool is unknown: told once, and the session waits to be acknowledged", async () => {
  const { client, rows } = gateway();
  const stream = readStream(client.client, AdminServiceService.watchEvents, { cursor: undefined });
  const events = new StreamLog<WatchEventsResponse>(({ event }) => event?.$case).follow(stream);
  const { run, worker } = await beginRunning();
  const sessionId = await sessionOf(run);
  const executionId = await run.started();
  const [second, third] = [client.say(sessionId, "second"), client.say(sessionId, "third")];
  await third.next("inputQueued");
  worker.startTool("call-1");
  await run.next("events");
  worker.exit(1);
  expect(await run.outcome()).toMatchObject({ outcome: "UNKNOWN", reason: "WORKER_EXITED" });
  const states = rows<{ state: string }>("SELECT state FROM inputs WHERE session_id = ? ORDER BY sequence", sessionId);
  expect(states.map(({ state }) => state)).toEqual(["ended", "queued", "queued"]);
  expect(await refusalOf(client.acknowledge(sessionId, `exe_${"0".repeat(26)}`))).toBe("OUTCOME_NOT_UNKNOWN");
  await client.acknowledge(sessionId, executionId);
  await client.acknowledge(sessionId, executionId);
  for (const follower of [second, third]) {
    const next = await workers.next();
    await next.running();
    next.result({ finalResponse: "ran" });
    expect((await follower.outcome()).outcome).toBe("COMPLETED");
  }
  const texts = rows<{ text: string }>("SELECT text FROM inputs WHERE session_id = ? ORDER BY started_at", sessionId);
  expect(texts.map(({ text }) => text)).toEqual(["hello", "second", "third"]);
  const told = (): number => events.items.filter(({ event }) => event?.$case === "unknownOutcome").length;
  await events.until("word of the unknown outcome", () => (told() > 0 ? true : undefined));
  expect(told()).toBe(1);
  stream.cancel();
});

test("OW-R21 what a lost worker leaves in its group is dead before the next turn", async () => {
  const { run, worker } = await beginRunning();
  const child = await worker.spawnChild();
  worker.exit(1);
  await run.outcome();
  const next = gateway().client.say(await sessionOf(run), "next");
  const successor = await workers.next();
  expect(isAlive(readProcess(child))).toBe(false);
  await successor.running();
  successor.result();
  expect((await next.outcome()).outcome).toBe("COMPLETED");
});

test("OW-R5 a worker that says nothing any more is lost, before ready as well", async () => {
  const running = await beginRunning();
  const starting = await begin();
  await starting.worker.bootstrapped();
  const [one, two] = await Promise.all([running.run.outcome(), starting.run.outcome()]);
  expect(one).toMatchObject({ outcome: "FAILED", reason: "HEARTBEAT_MISSED" });
  expect(two).toMatchObject({ outcome: "FAILED", reason: "HEARTBEAT_MISSED" });
});

test("OW-R31 OC-16 SY-5 heartbeats are no progress: an idle turn ends, but not inside a tool or a prompt", async () => {
  const { run, worker } = await beginRunning("restless");
  beat(worker, run.ended());
  const busy = await beginRunning("restless");
  beat(busy.worker, busy.run.ended());
  busy.worker.startTool("call-1");
  const asking = await beginRunning("restless");
  beat(asking.worker, asking.run.ended());
  asking.worker.send({
    $case: "clarify",
    value: {
      promptId: "ask-1",
      request: { question: { questionId: "q", text: "?", choices: [], multiSelect: false }, position: 1, total: 1 },
    },
  });
  const { promptId } = await asking.run.next("promptRaised");
  // Nothing answers the Stop that idleness brings, so that its ladder ends the turn.
  expect(await run.outcome()).toMatchObject({ outcome: "FAILED", reason: "TURN_IDLE" });
  await worker.next("stop");
  expect(busy.run.kinds).not.toContain("turnEnded");
  await gateway().client.reply(promptId, "an answer");
  asking.worker.result({ finalResponse: "answered" });
  expect(await asking.run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "answered" });
  busy.worker.result({ finalResponse: "worked" });
  expect(await busy.run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "worked" });
});

test("OW-R19 Stop reaches the worker and the launcher before it", async () => {
  const { run, worker } = await begin("launched");
  await worker.running();
  await run.reached(TurnPhase.TURN_PHASE_RUNNING);
  const launcher = readProcess(worker.launched.pid)?.parentPid ?? 0;
  expect(launcher).not.toBe(process.pid);
  await gateway().client.stop(await run.started());
  expect((await run.outcome()).outcome).toBe("FAILED");
  await gone(worker.launched.pid);
  await gone(launcher);
});

test("OW-R27 Stop ends a waiting approval at once, and its command does not run", async () => {
  const { client } = gateway();
  const run = client.run("echo", "!approve rm -r everything\n!say never");
  const { promptId } = await run.next("promptRaised");
  await client.stop(await run.started());
  const ended = await run.outcome();
  expect(ended).toMatchObject({ outcome: "INTERRUPTED", reason: "TURN_STOPPED" });
  expect(ended.answer).not.toContain("approved");
  expect((await run.next("promptEnded")).end).toBe(3);
  expect(await refusalOf(client.choose(promptId, ApprovalChoice.APPROVAL_CHOICE_ONCE))).toBe("PROMPT_ALREADY_RESOLVED");
});

test("OW-R28 no tool starts after Stop has been acknowledged", async () => {
  const { client } = gateway();
  const run = client.run("echo", "!tool one {} => 1\n!say waits\n!sleep 60000\n!tool two {} => 2");
  await run.saw("waits");
  await client.stop(await run.started());
  await run.outcome();
  const started = run.items
    .flatMap(({ update }) => (update?.$case === "events" ? update.value.events : []))
    .flatMap(({ event }) => (event?.$case === "toolStarted" ? [event.value.name] : []));
  expect(started).toEqual(["one"]);
});

test("OW-R34 OW-R26 OC-13 a prompt waits for a viewer that has gone and comes back", async () => {
  const { client, connect } = gateway();
  const run = client.run("echo", "!ask Still there?");
  const { promptId } = await run.next("promptRaised");
  const sessionId = await sessionOf(run);
  run.cancel();
  await run.ended();
  const back = connect().watch(sessionId, { answersPrompts: true });
  const snapshot = await back.next("snapshot");
  expect(snapshot.prompts.map((prompt) => prompt.promptId)).toEqual([promptId]);
  await client.reply(promptId, "yes");
  expect((await back.outcome()).answer).toContain("yes");
  back.cancel();
});

test("OW-R38 SY-3 an approval expires after its time: its command does not run, the turn goes on", async () => {
  const { client } = gateway();
  const begun = performance.now();
  const run = client.run("echo", "!approve rm\n!say went on");
  await run.next("promptRaised");
  expect((await run.next("promptEnded")).end).toBe(PromptEnd.PROMPT_END_EXPIRED);
  expect(performance.now() - begun).toBeGreaterThan(APPROVAL_MS - 50);
  const ended = await run.outcome();
  expect(ended.outcome).toBe("COMPLETED");
  expect(ended.answer).toContain("went on");
  expect(ended.answer).not.toContain("approved");
});

test("OW-R40 a prompt that nobody saw when it was raised waits for whoever comes", async () => {
  const { client, connect } = gateway();
  const run = client.run("foreign", "hello");
  const sessionId = await sessionOf(run);
  const worker = await workers.next();
  await worker.running();
  run.cancel();
  await run.ended();
  const request = ClarifyRequest.fromPartial({ question: { questionId: "q", text: "Which?" }, position: 1, total: 1 });
  worker.send({ $case: "clarify", value: { promptId: "p", request } });
  const late = connect().watch(sessionId, { answersPrompts: true });
  const raised = await late.until("the prompt", () =>
    late.items
      .flatMap(({ update }) => {
        if (update?.$case === "snapshot") return update.value.prompts;
        return update?.$case === "promptRaised" ? [update.value] : [];
      })
      .at(0),
  );
  await client.reply(raised.promptId, "that one");
  expect(await worker.next("clarifyAnswer")).toMatchObject({ promptId: "p", text: "that one" });
  worker.result({ finalResponse: "answered" });
  expect((await late.outcome()).answer).toBe("answered");
  late.cancel();
});
