import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";

import { isAlive, readProcess } from "../../src/base/processTable.js";
import { sessionOf } from "../kit/turnClient.js";
import { beginRunningTurn, beginTurn } from "../kit/heldTurn.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { processGone } from "../kit/useServe.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitUntil } from "../kit/waitFor.js";

const workers = useForeignWorkers();
const foreign = { runtime: "command", worker: { command: workers.command } };
const gateway = useTestGateway({
  agents: {
    echo: { runtime: "echo" },
    foreign,
    hasty: { ...foreign, limits: { turn_limit_ms: 700 } },
    late: { ...foreign, limits: { turn_limit_ms: 1_500 } },
    absent: { runtime: "command", worker: { command: ["/no/such/program"] } },
    rude: { runtime: "command", worker: { command: ["sh", "-c", "exit 5"] } },
  },
  budgets: { heartbeatMissedMs: 3_000, exitAfterFinishedMs: 600 },
  poolSize: 1,
});

const begin = (agent?: string) => beginTurn(gateway(), workers, agent);
const beginRunning = (agent?: string) => beginRunningTurn(gateway(), workers, agent);

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
  await processGone(worker.launched.pid);
});

test("TE-5 a connection that breaks is a loss, and nobody's wish to cancel", async () => {
  const { run, worker } = await beginRunning();
  worker.cut();
  expect(await run.outcome()).toMatchObject({ outcome: "FAILED", reason: "WORKER_LOST" });
  await processGone(worker.launched.pid);
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
  await processGone(worker.launched.pid);
});

test("OC-9 a turn over its limit is stopped for that reason", async () => {
  const { run, worker } = await beginRunning("hasty");
  const stop = await worker.next("stop");
  worker.result({ interrupted: true, finalResponse: "so far" });
  expect(stop.cause).toBe(2);
  expect(await run.outcome()).toMatchObject({ outcome: "INTERRUPTED", reason: "TURN_LIMIT", answer: "so far" });
});

test("OC-9 a turn over its limit whose processes take no notice is killed with all of them, and the next turn starts", async () => {
  const { run, worker } = await beginRunning("late");
  await worker.ignoreSigterm();
  const child = await worker.spawnChild();
  const next = gateway().client.say(await sessionOf(run), "next");
  await next.next("inputQueued");
  expect((await worker.next("stop")).cause).toBe(2);
  expect((await run.outcome()).outcome).toBe("FAILED");
  expect(worker.events.items.map(({ kind }) => kind)).toContain("sigterm");
  const successor = await workers.next();
  for (const pid of [worker.launched.pid, child]) expect(isAlive(readProcess(pid))).toBe(false);
  await successor.running();
  successor.result({ finalResponse: "started" });
  await successor.leave();
  expect((await next.outcome()).answer).toBe("started");
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
