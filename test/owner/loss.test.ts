import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";

import { isAlive, readProcess } from "../../src/base/processTable.js";
import { AdminServiceService, type WatchEventsResponse } from "../../src/gen/talaria/gateway/v1/admin_service.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import type { ForeignWorker } from "../kit/foreignWorkers.js";
import { StreamLog } from "../kit/streamLog.js";
import { refusalOf, sessionOf, type UpdateLog } from "../kit/turnClient.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitUntil } from "../kit/waitFor.js";

const workers = useForeignWorkers();
const foreign = { runtime: "command", worker: { command: workers.command } };
const gateway = useTestGateway({
  agents: {
    echo: { runtime: "echo" },
    foreign,
    hasty: { ...foreign, limits: { turn_limit_ms: 700 } },
    restless: { ...foreign, limits: { no_progress_ms: 1_500 } },
    absent: { runtime: "command", worker: { command: ["/no/such/program"] } },
    rude: { runtime: "command", worker: { command: ["sh", "-c", "exit 5"] } },
  },
  budgets: { heartbeatMissedMs: 3_000, exitAfterFinishedMs: 600 },
  poolSize: 1,
});

async function begin(agent = "foreign"): Promise<{ readonly run: UpdateLog; readonly worker: ForeignWorker }> {
  const run = gateway().client.run(agent, "hello");
  return { run, worker: await workers.next() };
}

async function beginRunning(agent = "foreign"): Promise<{ readonly run: UpdateLog; readonly worker: ForeignWorker }> {
  const turn = await begin(agent);
  await turn.worker.running();
  return turn;
}

/** Keeps a worker's heart beating until the turn has ended. */
function beat(worker: ForeignWorker, until: Promise<unknown>): void {
  const timer = setInterval(() => {
    worker.send({ $case: "heartbeat", value: { loopDelayMs: 0, residentBytes: 0n } });
  }, 100);
  const stop = (): void => {
    clearInterval(timer);
  };
  until.then(stop, stop);
}

const gone = (pid: number): Promise<void> => waitUntil(`${String(pid)} is gone`, () => !isAlive(readProcess(pid)));

test("F21 a worker that crashes is told by its exit, and the session goes on", async () => {
  const { client } = gateway();
  const run = client.run("echo", "!say here\n!crash 3");
  const ended = await run.outcome();
  expect(ended).toMatchObject({ outcome: "FAILED", reason: "WORKER_EXITED" });
  expect(ended.message).toContain("code 3");
  const next = client.say(await sessionOf(run), "!crash");
  const killed = await next.outcome();
  expect(killed.message).toContain("SIGKILL");
  expect((await client.say(await sessionOf(run), "alive").outcome()).answer).toBe("alive");
});

test("AG-3 F21 a worker that is killed from outside is a loss within its budget", async () => {
  const { run, worker } = await beginRunning();
  process.kill(worker.launched.pid, "SIGKILL");
  expect(await run.outcome()).toMatchObject({ outcome: "FAILED", reason: "WORKER_EXITED" });
});

test("SY-1 a worker whose stream ends without a result is lost although its process lives", async () => {
  const { run, worker } = await beginRunning();
  worker.end();
  expect((await run.outcome()).outcome).toBe("FAILED");
  await gone(worker.launched.pid);
});

test("TE-5 a connection that breaks is a loss, and nobody's wish to cancel", async () => {
  const { run, worker } = await beginRunning();
  worker.cut();
  expect(await run.outcome()).toMatchObject({ outcome: "FAILED", reason: "WORKER_LOST" });
  await gone(worker.launched.pid);
});

test("F1 a program that cannot be started, and one that leaves before hello, are failures that say so", async () => {
  const { client } = gateway();
  expect(await client.run("absent", "hello").outcome()).toMatchObject({
    outcome: "FAILED",
    reason: "WORKER_SPAWN_FAILED",
  });
  expect(await client.run("rude", "hello").outcome()).toMatchObject({ outcome: "FAILED", reason: "WORKER_EXITED" });
});

test("F11 a worker that leaves at its bootstrap is a failure", async () => {
  const { run, worker } = await begin();
  await worker.bootstrapped();
  worker.exit(70);
  const ended = await run.outcome();
  expect(ended).toMatchObject({ outcome: "FAILED", reason: "WORKER_EXITED" });
  expect(ended.message).toContain("code 70");
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

test("DA-3 a tool call that has ended leaves nothing unknown", async () => {
  const { client } = gateway();
  expect(await client.run("echo", "!tool done {} => ok\n!crash 1").outcome()).toMatchObject({ outcome: "FAILED" });
});

test("OC-19 F22 F23 F33 a worker that dies after its result changes nothing of the outcome", async () => {
  const { run, worker } = await beginRunning();
  worker.result({ finalResponse: "kept" });
  await worker.next("finish");
  worker.exit(1);
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "kept" });
  const racing = await beginRunning();
  racing.worker.result({ finalResponse: "raced" });
  racing.worker.exit(1);
  const raced = await racing.run.outcome();
  expect(["COMPLETED", "FAILED"]).toContain(raced.outcome);
  await racing.run.ended();
  expect(racing.run.kinds.filter((kind) => kind === "turnEnded")).toHaveLength(1);
  const session = await sessionOf(racing.run);
  await waitUntil("the session is free", () => {
    const [row] = gateway().rows<{ running: string | null }>(
      "SELECT running_execution_id AS running FROM sessions WHERE session_id = ?",
      session,
    );
    return row?.running === null;
  });
});

test("F23 a worker that does not leave after it has finished is ended; its session is free", async () => {
  const { run, worker } = await beginRunning();
  worker.result({ finalResponse: "over" });
  await worker.next("finish");
  await worker.finishExecution(0n);
  worker.send({ $case: "finished", value: {} });
  expect((await run.outcome()).outcome).toBe("COMPLETED");
  await gone(worker.launched.pid);
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

test("OC-9 a turn over its limit is stopped for that reason", async () => {
  const { run, worker } = await beginRunning("hasty");
  const stop = await worker.next("stop");
  worker.result({ interrupted: true, finalResponse: "so far" });
  expect(stop.cause).toBe(2);
  expect(await run.outcome()).toMatchObject({ outcome: "INTERRUPTED", reason: "TURN_LIMIT", answer: "so far" });
});

test("OC-10 inputs behind a turn that is lost all run, in order", async () => {
  const { client } = gateway();
  const run = client.run("echo", "!approve hold\n!crash 1");
  const sessionId = await sessionOf(run);
  const { promptId } = await run.next("promptRaised");
  const followers = ["1", "2", "3"].map((text) => client.say(sessionId, text, { requestId: randomUUID() }));
  await followers.at(-1)?.next("inputQueued");
  await client.choose(promptId, 1);
  expect((await run.outcome()).outcome).toBe("FAILED");
  expect(await Promise.all(followers.map(async (follower) => (await follower.outcome()).answer))).toEqual([
    "1",
    "2",
    "3",
  ]);
});
