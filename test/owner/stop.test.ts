import { expect, test } from "vitest";

import { TurnPhase } from "../../src/gen/talaria/gateway/v1/turn_service.js";
import type { ForeignWorker } from "../kit/foreignWorkers.js";
import { refusalOf, sessionOf } from "../kit/turnClient.js";
import { beginTurn } from "../kit/heldTurn.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { processGone } from "../kit/useServe.js";
import { useTestGateway } from "../kit/useTestGateway.js";

const workers = useForeignWorkers();
const [node = "", relay = "", path = ""] = workers.command;
const gateway = useTestGateway({
  agents: {
    echo: { runtime: "echo" },
    foreign: { runtime: "command", worker: { command: workers.command } },
    launched: { runtime: "command", worker: { command: ["sh", "-c", '"$0" "$@"; exit $?', node, relay, path] } },
  },
  poolSize: 1,
});

const begin = (agent?: string) => beginTurn(gateway(), workers, agent);

/** Shows that nothing of a turn is left in the way: its session runs the next input. */
async function expectFree(sessionId: string, next: () => Promise<ForeignWorker> = () => workers.next()): Promise<void> {
  const run = gateway().client.say(sessionId, "next");
  const worker = await next();
  await worker.running();
  worker.result({ finalResponse: "free" });
  expect((await run.outcome()).answer).toBe("free");
}

test("a running turn that is stopped ends interrupted; a repeated Stop says so", async () => {
  const { client } = gateway();
  const run = client.run("echo", "!say begun\n!sleep 60000\n!say never");
  const executionId = await run.started();
  await run.saw("begun");
  expect((await client.stop(executionId)).alreadyStopping).toBe(false);
  const again = client.stop(executionId).then(
    ({ alreadyStopping }) => alreadyStopping,
    () => "ended",
  );
  expect(await run.outcome()).toMatchObject({ outcome: "INTERRUPTED", reason: "TURN_STOPPED", answer: "begun" });
  expect([true, "ended"]).toContain(await again);
  expect(await refusalOf(client.stop(executionId))).toBe("EXECUTION_ENDED");
});

const phases: readonly [string, (worker: ForeignWorker) => Promise<unknown>][] = [
  ["launched", (worker) => worker.connected()],
  ["bootstrapped", (worker) => worker.bootstrapped()],
  ["adopted", (worker) => worker.bootstrapped().then(() => worker.adopt())],
];
test.each(phases)("OW52 OW-R29 F13 F14 a turn stopped while its worker is only %s never runs", async (_name, come) => {
  const { run, worker } = await begin();
  const executionId = await run.started();
  await come(worker);
  await gateway().client.stop(executionId);
  expect(await run.outcome()).toMatchObject({ outcome: "INTERRUPTED", reason: "TURN_STOPPED", answer: "" });
  expect(run.kinds.filter((kind) => kind === "turnEnded")).toHaveLength(1);
  await processGone(worker.launched.pid);
  await expectFree(await sessionOf(run));
});

test("OW50 F16 OC-9 valid output and repeated Stops do not put the end off; the whole group dies", async () => {
  const { run, worker } = await begin();
  await worker.running();
  await run.reached(TurnPhase.TURN_PHASE_RUNNING);
  await worker.ignoreSigterm();
  const child = await worker.spawnChild();
  const executionId = await run.started();
  const begun = performance.now();
  await gateway().client.stop(executionId);
  const chatter = setInterval(() => {
    worker.say("still here ");
    gateway()
      .client.stop(executionId)
      .catch(() => undefined);
  }, 50);
  const ended = await run.outcome().finally(() => {
    clearInterval(chatter);
  });
  expect(ended).toMatchObject({ outcome: "FAILED", reason: "TURN_STOP_TIMEOUT" });
  expect(worker.events.items.map(({ kind }) => kind)).toContain("sigterm");
  expect(performance.now() - begun).toBeLessThan(5_000);
  await processGone(worker.launched.pid);
  await processGone(child);
  await expectFree(await sessionOf(run));
});

test("OW51 a Stop long after hello has its whole window", async () => {
  const { client } = gateway();
  const run = client.run("echo", "!deaf\n!say deaf\n!sleep 60000");
  const executionId = await run.started();
  await run.saw("deaf");
  const begun = performance.now();
  await client.stop(executionId);
  expect(await run.outcome()).toMatchObject({ outcome: "FAILED", reason: "TURN_STOP_TIMEOUT" });
  expect(performance.now() - begun).toBeGreaterThan(550);
});
