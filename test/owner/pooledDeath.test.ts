import { expect, test } from "vitest";

import { TurnPhase } from "../../src/gen/talaria/gateway/v1/turn_service.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitFor } from "../kit/waitFor.js";

const gateway = useTestGateway({ poolSize: 1 });

/** A worker that waits in the pool, frozen so that nobody notices anything of it. */
async function frozenWorker(): Promise<number> {
  const { owner } = gateway().rooms;
  return waitFor("a worker waits", () => {
    const [pid] = gateway().workerPids();
    if (owner.counts().pooled !== 1 || pid === undefined) return { state: owner.counts() };
    process.kill(pid, "SIGSTOP");
    return { found: pid };
  });
}

test("a pooled worker that dies when it is taken is replaced by a started one, and the turn runs once", async () => {
  expect((await gateway().client.run("echo", "first").outcome()).answer).toBe("first");
  const pid = await frozenWorker();
  const run = gateway().client.run("echo", "second");
  const executionId = await run.started();
  await run.reached(TurnPhase.TURN_PHASE_BOOTSTRAPPED);
  process.kill(pid, "SIGKILL");
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "second" });
  const launched = gateway().rows<{ pid: number; evidence: string }>(
    "SELECT pid, evidence FROM executions JOIN launches USING (launch_id) WHERE execution_id = ?",
    executionId,
  );
  expect(launched).toHaveLength(1);
  expect(launched[0]?.pid).not.toBe(pid);
  expect(launched[0]?.evidence).toContain(String(launched[0]?.pid));
  expect(gateway().rows("SELECT 1 FROM messages WHERE execution_id = ? AND role = 'user'", executionId)).toHaveLength(
    1,
  );
  expect(gateway().log.some((line) => line.includes("a pooled worker died before its turn"))).toBe(true);
});

test("Stop while the pooled worker is being replaced ends the turn, and nothing is left of either", async () => {
  const pid = await frozenWorker();
  const run = gateway().client.run("echo", "third");
  const executionId = await run.started();
  await run.reached(TurnPhase.TURN_PHASE_BOOTSTRAPPED);
  process.kill(pid, "SIGKILL");
  await gateway().client.stop(executionId);
  expect(await run.outcome()).toMatchObject({ outcome: "INTERRUPTED" });
});
