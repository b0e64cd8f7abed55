import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";

const workers = useForeignWorkers();
const realWorker = fileURLToPath(new URL("../../dist/worker/main.cjs", import.meta.url));
const dropping = ["sh", "-c", 'exec "$0" "$@" </dev/null', process.execPath, realWorker];
const gateway = useTestGateway({
  budgets: { helloMs: 3_000 },
  agents: {
    foreign: { runtime: "command", worker: { command: workers.command } },
    dropping: { runtime: "command", worker: { command: dropping } },
  },
});

test("OW-R4 a worker that never says hello is given up after its time, beside one that does", async () => {
  const { client } = gateway();
  const never = client.run("foreign", "hello");
  const silent = await workers.next();
  const slow = client.run("foreign", "hello");
  const late = await workers.next();
  await silent.connected();
  await late.connected();
  expect(silent.launched.token).toHaveLength(32);
  await late.running();
  late.result({ finalResponse: "late" });
  expect((await slow.outcome()).answer).toBe("late");
  expect(await never.outcome()).toMatchObject({ outcome: "FAILED", reason: "WORKER_HELLO_TIMEOUT" });
});

test("OW-R18 a launcher that does not pass stdin on is named by the turn's failure", async () => {
  const run = gateway().client.run("dropping", "hello");
  expect(await run.outcome()).toMatchObject({ outcome: "FAILED", reason: "WORKER_LAUNCHER_DROPPED_STDIN" });
});
