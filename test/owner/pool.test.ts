import { readdirSync } from "node:fs";
import { expect, test } from "vitest";

import { groupMembers, readProcess } from "../../src/base/processTable.js";
import { waitFor, waitUntil } from "../kit/waitFor.js";
import { useTestGateway } from "../kit/useTestGateway.js";

const gateway = useTestGateway({
  poolSize: 1,
  agents: {
    echo: { runtime: "echo", main: true },
    other: { runtime: "echo", worker: { env: { OTHER: "1" } } },
    small: { runtime: "echo", limits: { memory_mib: 96 } },
  },
});

/** The pid of the one worker that waits, when nothing else runs. */
async function pooledPid(): Promise<number> {
  const { rooms, workerPids } = gateway();
  return waitFor("one pooled worker and no other", () => {
    const pids = workerPids();
    const [pid] = pids;
    const { inUse, pooled } = rooms.owner.counts();
    return pid !== undefined && pids.length === 1 && inUse === 0 && pooled === 1
      ? { found: pid }
      : { state: { pids, inUse, pooled } };
  });
}

/** The pid of the worker that ran a turn, from its evidence. */
function pidOf(executionId: string): number {
  const [row] = gateway().rows<{ pid: number }>(
    "SELECT launches.worker_pid AS pid FROM executions JOIN launches USING (launch_id) WHERE execution_id = ?",
    executionId,
  );
  return row?.pid ?? 0;
}

test("a worker for the main agent is ready before the first turn, keeps its code and has that turn only", async () => {
  const { client, context } = gateway();
  const pid = await pooledPid();
  expect(readdirSync(context.paths.cacheDir)).toHaveLength(1);
  const first = client.run("echo", "one");
  expect(pidOf(await first.started())).toBeOneOf([0, pid]);
  const { turn } = await first.outcome();
  expect(pidOf(turn.executionId)).toBe(pid);
  await waitUntil("the worker is gone", () => readProcess(pid) === undefined);
  const next = await pooledPid();
  expect(next).not.toBe(pid);
});

test("an agent with another environment or heap limit gets a worker of its own, which takes the pooled one's place", async () => {
  const { client } = gateway();
  for (const agent of ["other", "small"]) {
    const before = await pooledPid();
    const { turn } = await client.run(agent, "two").outcome();
    expect(pidOf(turn.executionId)).not.toBe(before);
    const after = await pooledPid();
    expect(readProcess(before)).toBeUndefined();
    const again = await client.run(agent, "three").outcome();
    expect(pidOf(again.turn.executionId)).toBe(after);
  }
});

test("a pooled worker that is killed is reported and replaced, and its record is closed", async () => {
  const { rows, log } = gateway();
  const pid = await pooledPid();
  process.kill(pid, "SIGKILL");
  await waitUntil("the worker is gone", () => groupMembers(pid).length === 0);
  const next = await waitFor("another one waits", () => {
    const [found, ...more] = gateway().workerPids();
    const ready = found !== pid && more.length === 0 && gateway().rooms.owner.counts().pooled === 1;
    return found !== undefined && ready
      ? { found }
      : { state: { found, more, counts: gateway().rooms.owner.counts() } };
  });
  expect(next).not.toBe(pid);
  expect(log.filter((line) => line.includes("a pooled worker could not be had"))).toHaveLength(1);
  expect(rows("SELECT 1 FROM launches WHERE gone_at IS NULL")).toHaveLength(1);
});
