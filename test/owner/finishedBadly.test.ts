import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";

import { AdminServiceService, type WatchEventsResponse } from "../../src/gen/talaria/gateway/v1/admin_service.js";
import { reasonNumber } from "../../src/rpc/reasonNumber.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { StreamLog } from "../kit/streamLog.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitUntil } from "../kit/waitFor.js";

const workers = useForeignWorkers();
const gateway = useTestGateway({
  agents: { foreign: { runtime: "command", worker: { command: workers.command } } },
});

async function runTo(code: number, text: string): Promise<string> {
  const run = gateway().client.run("foreign", text);
  const worker = await workers.next();
  await worker.running();
  worker.result({ finalResponse: text });
  await worker.next("finish");
  await worker.finishExecution(0n);
  worker.send({ $case: "finished", value: {} });
  worker.end();
  await worker.ended();
  worker.exit(code);
  const { outcome, answer, turn } = await run.outcome();
  expect([outcome, answer]).toEqual(["COMPLETED", text]);
  const held = () =>
    gateway().rows("SELECT 1 FROM sessions WHERE session_id = ? AND running_execution_id IS NOT NULL", turn.sessionId);
  await waitUntil("the session is free", () => held().length === 0, held);
  return turn.executionId;
}

test("a worker that says it has finished and then fails keeps its turn's outcome, and operators are told", async () => {
  const stream = readStream(gateway().client.client, AdminServiceService.watchEvents, { cursor: undefined });
  const events = new StreamLog<WatchEventsResponse>(({ event }) => event?.$case);
  events.follow(stream);
  await runTo(0, `well ${randomUUID()}`);
  const failed = await runTo(3, "badly");
  const { event } = await events.first("word of a failed worker", (one) => one.event?.$case === "workerTrouble");
  expect(event).toMatchObject({
    value: { agent: "foreign", failure: { reason: reasonNumber("WORKER_EXITED") } },
  });
  expect(events.items.filter((one) => one.event?.$case === "workerTrouble")).toHaveLength(1);
  expect(gateway().log.filter((line) => line.includes("failed after its turn had finished"))).toHaveLength(1);
  expect(gateway().rows("SELECT outcome, state FROM executions WHERE execution_id = ?", failed)).toEqual([
    { outcome: "completed", state: "finished" },
  ]);
  stream.cancel();
});
