import { expect, test } from "vitest";

import type { Delivery } from "../../src/gen/talaria/dm/v1/delivery.js";
import { RetryMode } from "../../src/gen/talaria/owner/v1/owner_service.js";
import { Reason } from "../../src/gen/talaria/reason/v1/reason.js";
import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { fromTimestamp, toTimestamp } from "../../src/rpc/wire/times.js";
import { waitFor } from "../kit/waitFor.js";
import { reasonOfNumber } from "../../src/rpc/reasons.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { ended, get, send, stateName } from "../dm/calls.js";

const workers = useForeignWorkers();
const gateway = useTestGateway({
  agents: {
    alice: { runtime: "echo", main: true },
    bob: { runtime: "echo" },
    carol: { runtime: "echo" },
    foreign: { runtime: "command", worker: { command: workers.command } },
    hasty: { runtime: "command", worker: { command: workers.command }, limits: { turn_limit_ms: 700 } },
  },
});

const tell = async (target: string, body: string): Promise<Delivery> => {
  const { client } = gateway().client;
  const { delivery } = await send(client, { target, body });
  return ended(client, delivery.deliveryId);
};
const executionsOf = ({ inputId }: Delivery): readonly { outcome: string }[] =>
  gateway().rows("SELECT outcome FROM executions WHERE input_id = ? ORDER BY created_at, generation", inputId);
const rowsOf = ({ inputId }: Delivery): readonly { role: string; text: string }[] =>
  gateway().rows(
    `SELECT role, text FROM messages JOIN executions USING (execution_id) WHERE input_id = ? ORDER BY row`,
    inputId,
  );
const failureOf = ({ failure }: Delivery): string => reasonOfNumber(failure?.reason ?? 0) ?? "";

test.each(["PROVIDER_RATE_LIMIT", "PROVIDER_SERVER", "CONTEXT_OVERFLOW"])(
  "DM076 DM-R08 DM-R11 a turn that fails for %s is run once more in its session, with its text there once",
  async (reason) => {
    const body = `!first !say half an answer\n!first !fail ${reason} later\nwhole ${reason}`;
    const end = await tell("bob", body);
    expect(stateName(end)).toBe("REPLIED");
    expect(end.reply?.text).toBe(`whole ${reason}`);
    expect(executionsOf(end)).toEqual([{ outcome: "failed" }, { outcome: "completed" }]);
    expect(rowsOf(end)).toEqual([
      { role: "user", text: body },
      { role: "assistant", text: `whole ${reason}` },
    ]);
    expect(end.lastError).toMatchObject({ message: "later" });
  },
);

test.each(["PROVIDER_AUTH", "PROVIDER_QUOTA", "RUNTIME_CONFIG", "MODEL_UNAVAILABLE", "RUNTIME_FAILED", "TOOL_FAILED"])(
  "DM076 DM-R08 a turn that fails for %s is not, and its text is no reply",
  async (reason) => {
    const end = await tell("bob", `!say not a reply\n!fail ${reason} for good`);
    expect(stateName(end)).toBe("FAILED");
    expect(failureOf(end)).toBe(reason);
    expect(end.reply).toBeUndefined();
    expect(executionsOf(end)).toEqual([{ outcome: "failed" }]);
  },
);

test("DM077 DM078 a text names the class where no reason does, and what fails twice ends with that reason", async () => {
  const again = await tell("bob", "!first !error upstream said HTTP 503\nfine");
  expect(stateName(again)).toBe("REPLIED");
  const end = await tell("bob", "!error upstream said HTTP 429");
  expect(stateName(end)).toBe("FAILED");
  expect(failureOf(end)).toBe("PROVIDER_RATE_LIMIT");
  expect(executionsOf(end)).toHaveLength(2);
  const refused = await tell("bob", "!error HTTP 401 while the quota is fine");
  expect(failureOf(refused)).toBe("PROVIDER_AUTH");
  expect(executionsOf(refused)).toHaveLength(1);
});

test("a turn that ends its worker each time fails after two attempts, and later mail flows", async () => {
  const { client } = gateway().client;
  const first = (await send(client, { target: "carol", body: "!crash 7" })).delivery;
  const second = (await send(client, { target: "carol", body: "after it" })).delivery;
  const end = await ended(client, first.deliveryId);
  expect([stateName(end), failureOf(end)]).toEqual(["FAILED", "WORKER_EXITED"]);
  expect(executionsOf(end)).toEqual([{ outcome: "failed" }, { outcome: "failed" }]);
  const later = await ended(client, second.deliveryId);
  expect(later.reply?.text).toBe("after it");
  const [order] = gateway().rows<{ ok: number }>(
    `SELECT MAX(a.created_at) <= MIN(b.created_at) AS ok FROM executions a, executions b
     WHERE a.input_id = ? AND b.input_id = ?`,
    end.inputId,
    later.inputId,
  );
  expect(order?.ok).toBe(1);
});

test("a crash inside a tool call is in doubt and not repeated", async () => {
  const { client } = gateway().client;
  const { delivery } = await send(client, { target: "foreign", body: "careful" });
  const worker = await workers.next();
  const { sessionId } = await worker.running();
  const viewer = gateway().client.watch(sessionId);
  await viewer.next("snapshot");
  worker.startTool("pay");
  await viewer.next("events");
  worker.exit(1);
  const end = await ended(client, delivery.deliveryId);
  viewer.cancel();
  expect(stateName(end)).toBe("UNKNOWN");
  expect(executionsOf(end)).toEqual([{ outcome: "unknown" }]);
});

test("DM077 a retry is told to the worker, with how it goes on", async () => {
  const { client } = gateway().client;
  const { delivery } = await send(client, { target: "foreign", body: "long talk" });
  const first = await workers.next();
  expect((await first.running()).input).toMatchObject({ attempt: 1, retryMode: RetryMode.RETRY_MODE_UNSPECIFIED });
  first.result({ finalResponse: "", failed: true, failureReason: Reason.REASON_CONTEXT_OVERFLOW, error: "too long" });
  await first.next("finish");
  first.exit(0);
  const second = await workers.next();
  expect((await second.running()).input).toMatchObject({
    attempt: 2,
    retryMode: RetryMode.RETRY_MODE_COMPRESS_THEN_RESUME,
    text: "long talk",
    deliveryId: delivery.deliveryId,
  });
  second.result({ finalResponse: "shorter" });
  await second.next("finish");
  second.exit(0);
  expect((await ended(client, delivery.deliveryId)).reply?.text).toBe("shorter");
});

/** Lets a message's first turn end on a rate limit that resets at a time. @returns the message's id */
async function meetLimit(resetsAt: number): Promise<string> {
  const { client } = gateway().client;
  const { delivery } = await send(client, { target: "foreign", body: "limited" });
  const worker = await workers.next();
  await worker.running();
  worker.result({
    finalResponse: "",
    failed: true,
    failureReason: Reason.REASON_PROVIDER_RATE_LIMIT,
    failureRetryable: true,
    failureResetsAt: toTimestamp(resetsAt),
    error: "too many requests",
  });
  await worker.leave();
  return delivery.deliveryId;
}

test("DM076 OC-1 a turn that met a limit is run again when it has reset, and not before", async () => {
  const { client } = gateway().client;
  const resetsAt = Date.now() + 1_500;
  const deliveryId = await meetLimit(resetsAt);
  const again = await workers.next();
  expect(Date.now()).toBeGreaterThanOrEqual(resetsAt);
  await again.running();
  expect((await get(client, deliveryId)).nextAttemptAt).toBeUndefined();
  again.result({ finalResponse: "in time" });
  await again.leave();
  expect((await ended(client, deliveryId)).reply?.text).toBe("in time");
});

test("a message that waits for a limit can be withdrawn, and later mail flows", async () => {
  const { client } = gateway().client;
  const resetsAt = Date.now() + 50_000;
  const deliveryId = await meetLimit(resetsAt);
  const waiting = await waitFor("it waits for the limit", async () => {
    const delivery = await get(client, deliveryId);
    return delivery.nextAttemptAt === undefined ? { state: stateName(delivery) } : { found: delivery };
  });
  expect([stateName(waiting), fromTimestamp(waiting.nextAttemptAt)]).toEqual(["CLAIMED", resetsAt]);
  const later = (await send(client, { target: "foreign", body: "later" })).delivery;
  await unaryCall(client, DirectMessageServiceService.cancelDelivery, { requestId: "withdraw", deliveryId });
  expect(stateName(await ended(client, deliveryId))).toBe("CANCELLED");
  const worker = await workers.next();
  expect((await worker.running()).input?.text).toBe("later");
  worker.result({ finalResponse: "flows" });
  await worker.leave();
  expect((await ended(client, later.deliveryId)).reply?.text).toBe("flows");
});

test("a limit that resets too late ends the message with its reason and says when", async () => {
  const resetsAt = Date.now() + 600_000;
  const end = await ended(gateway().client.client, await meetLimit(resetsAt));
  expect([stateName(end), failureOf(end)]).toEqual(["FAILED", "PROVIDER_RATE_LIMIT"]);
  expect(fromTimestamp(end.failure?.resetsAt)).toBe(resetsAt);
  expect(executionsOf(end)).toHaveLength(1);
});

test("a stop is the sender's or an operator's word: what fails after it is not run again", async () => {
  const { client } = gateway().client;
  const { delivery } = await send(client, { target: "foreign", body: "stop me" });
  const worker = await workers.next();
  const { executionId } = await worker.running();
  await gateway().client.stop(executionId);
  await worker.next("stop");
  worker.result({ finalResponse: "", failed: true, failureReason: Reason.REASON_PROVIDER_SERVER, error: "HTTP 500" });
  await worker.next("finish");
  worker.exit(0);
  const end = await ended(client, delivery.deliveryId);
  expect([stateName(end), failureOf(end)]).toEqual(["FAILED", "PROVIDER_SERVER"]);
  expect(executionsOf(end)).toHaveLength(1);
});

test("DM-R24 a turn at its limit is ended and not run again, and the next message runs", async () => {
  const { client } = gateway().client;
  const { delivery } = await send(client, { target: "hasty", body: "slow" });
  const worker = await workers.next();
  await worker.running();
  const later = (await send(client, { target: "hasty", body: "next" })).delivery;
  await worker.next("stop");
  worker.exit(0);
  const end = await ended(client, delivery.deliveryId);
  expect([stateName(end), executionsOf(end).length]).toEqual(["FAILED", 1]);
  const second = await workers.next();
  await second.running();
  second.result({ finalResponse: "here" });
  await second.next("finish");
  second.exit(0);
  expect((await ended(client, later.deliveryId)).reply?.text).toBe("here");
});

test("a client's own turn is never run again by itself", async () => {
  const run = gateway().client.run("bob", "!fail PROVIDER_SERVER down");
  expect(await run.outcome()).toMatchObject({ outcome: "FAILED", reason: "PROVIDER_SERVER" });
  expect(run.kinds.filter((kind) => kind === "turnStarted")).toHaveLength(1);
});

test("the totals hold while turns are run again", () => {
  const totals = gateway().rows<{ admitted: number; ended: number; started: number; unstarted: number }>(
    "SELECT admitted, ended, started, ended_unstarted AS unstarted FROM turn_totals",
  );
  const open = gateway().rows<{ state: string }>("SELECT state FROM inputs WHERE state <> 'ended'");
  expect(open).toEqual([]);
  const [{ admitted, started, ended: over, unstarted } = { admitted: 0, started: 0, ended: 0, unstarted: 0 }] = totals;
  expect([over, started + unstarted]).toEqual([admitted, admitted]);
});
