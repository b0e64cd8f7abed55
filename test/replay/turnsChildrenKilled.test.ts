import { expect, test } from "vitest";

import { rowsOf } from "../kit/serveProcess.js";
import { sessionOf } from "../kit/turnClient.js";
import { launchesOf, processGone, useServe } from "../kit/useServe.js";
import { untilBusy } from "../kit/untilBusy.js";
import { waitUntil } from "../kit/waitFor.js";

const fixture = useServe();

test("OW-R7 a gateway killed over a parent and its children keeps the answer of the one that had ended, and leaves none of them queued, running or without an outcome", async () => {
  const home = fixture.home();
  const first = await fixture.serve(home);
  const client = first.connect();
  const run = client.run("echo", "!child done | !child !spin 60000 | waiting");
  const sessionId = await sessionOf(run);
  const executionId = await run.started();
  const adopted = (): unknown[] => rowsOf(home, "SELECT 1 FROM executions WHERE state = 'adopted'");
  await waitUntil("parent, child and grandchild run", () => adopted().length === 3, adopted);
  const pids = launchesOf(home).map(({ pid }) => pid);
  expect(pids).toHaveLength(4);
  const [grandchild] = rowsOf<{ pid: number }>(
    home,
    `SELECT COALESCE(launches.worker_pid, launches.pid) AS pid
     FROM executions JOIN launches USING (launch_id) JOIN sessions USING (session_id) WHERE child_depth = 2`,
  );
  await untilBusy(grandchild?.pid ?? 0);
  await first.kill();

  const second = (await fixture.serve(home)).connect();
  for (const pid of pids) await processGone(pid);
  // What stops in time keeps its result; the one that spins cannot.
  const outcomes = rowsOf<{ outcome: string | null; child_depth: number }>(
    home,
    "SELECT outcome, child_depth FROM inputs JOIN sessions USING (session_id) ORDER BY child_depth, sequence",
  );
  expect(outcomes.map(({ child_depth: depth }) => depth)).toEqual([0, 1, 1, 1, 2]);
  expect(outcomes.map(({ outcome }) => outcome)).not.toContain(null);
  expect(outcomes[1]?.outcome).toBe("completed");
  expect(outcomes.slice(3).map(({ outcome }) => outcome)).toEqual(["cancelled", "unknown"]);
  const answers = rowsOf(
    home,
    "SELECT answer FROM children WHERE execution_id = ? AND state = 'succeeded'",
    executionId,
  );
  expect(answers).toEqual([{ answer: "done" }]);
  expect(rowsOf(home, "SELECT 1 FROM children WHERE state = 'dispatched'")).toEqual([]);
  expect(rowsOf(home, "SELECT 1 FROM sessions WHERE running_execution_id IS NOT NULL")).toEqual([]);
  const [totals] = rowsOf<{ admitted: number; ended: number }>(home, "SELECT admitted, ended FROM turn_totals");
  expect(totals?.ended).toBe(totals?.admitted);
  if (outcomes[0]?.outcome === "unknown") await second.acknowledge(sessionId, executionId);
  expect((await second.say(sessionId, "!child again").outcome()).answer).toBe("child: completed again");
});
