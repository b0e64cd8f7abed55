import { createHash } from "node:crypto";
import { afterAll, expect, test } from "vitest";

import { ExecutionStoreServiceService } from "../../src/gen/talaria/owner/v1/execution_store_service.js";
import { SessionServiceService } from "../../src/gen/talaria/gateway/v1/session_service.js";
import type { Delivery } from "../../src/gen/talaria/dm/v1/delivery.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { reasonOfNumber } from "../../src/rpc/reasons.js";
import { ended, get, send, stateName } from "../dm/calls.js";
import { startScriptedModel } from "../kit/scriptedModel.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";

const workers = useForeignWorkers();
const model = await startScriptedModel();
afterAll(() => model.close());
const echo = { runtime: "echo" };
const gateway = useTestGateway({
  agents: {
    alice: { ...echo, main: true },
    bob: echo,
    carol: echo,
    limited: model.agent("limited"),
    foreign: { runtime: "command", worker: { command: workers.command } },
  },
});
const client = () => gateway().client.client;
const failureOf = ({ failure }: Delivery): string => reasonOfNumber(failure?.reason ?? 0) ?? "";

/** Sends a message of alice's and waits for its end. */
async function tell(target: string, body: string): Promise<Delivery> {
  const { delivery } = await send(client(), { target, body, onBehalfOf: "alice" });
  return ended(client(), delivery.deliveryId);
}

/** The rows of an agent's Bot Chat. */
const transcript = (agent: string): readonly { role: string; text: string }[] =>
  gateway().rows(
    "SELECT role, text FROM messages JOIN sessions USING (session_id) WHERE agent = ? AND bot_chat = 1 ORDER BY row",
    agent,
  );

test("DM-R04 a reply up to the bound is whole; of a longer one the beginning comes, marked, and all of it can be read", async () => {
  const whole = await tell("bob", "!repeat 1599 0123456789");
  expect(whole.reply).toMatchObject({ text: "0123456789".repeat(1_599), truncated: false });
  const long = "0123456789".repeat(4_000);
  const cut = await tell("bob", "!repeat 4000 0123456789");
  expect(cut.reply).toMatchObject({ truncated: true, codePoints: 40_000n });
  expect(long.startsWith(cut.reply?.text ?? "?")).toBe(true);
  expect(cut.reply?.sha256).toEqual(createHash("sha256").update(long).digest());
  const [session] = gateway().rows<{ id: string }>(
    "SELECT session_id AS id FROM sessions WHERE agent = 'bob' AND bot_chat = 1",
  );
  const page = { sessionId: session?.id ?? "", pageSize: 100, pageToken: "" };
  const { messages } = await unaryCall(client(), SessionServiceService.readTranscript, page);
  expect(messages.map(({ text }) => text)).toContain(long);
});

test("DM-R48 a message and its answer are rows of the recipient's Bot Chat", async () => {
  const end = await tell("carol", "remember this");
  expect(end.reply?.text).toBe("remember this");
  expect(transcript("carol")).toEqual([
    { role: "user", text: "remember this" },
    { role: "assistant", text: "remember this" },
  ]);
});

test("DM-R20 a message to a chat that a turn holds is written after that turn's answer, never beside it", async () => {
  const first = await send(client(), { target: "foreign", body: "first" });
  const one = await workers.next();
  await one.running();
  const second = await send(client(), { target: "foreign", body: "second" });
  expect(transcript("foreign").map(({ text }) => text)).toEqual(["first"]);
  one.result({ finalResponse: "re first" });
  await one.leave();
  const two = await workers.next();
  await two.running();
  expect(transcript("foreign").map(({ text }) => text)).toEqual(["first", "re first", "second"]);
  two.result({ finalResponse: "re second" });
  await two.leave();
  for (const { delivery } of [first, second]) await ended(client(), delivery.deliveryId);
  expect(transcript("foreign").map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
});

test("DM-R47 the tools of messages are offered again after a compaction, and a message from the next turn goes out", async () => {
  const turn = async (body: string) => {
    const { delivery } = await send(client(), { target: "foreign", body });
    const worker = await workers.next();
    const bootstrap = await worker.running();
    return { deliveryId: delivery.deliveryId, worker, tools: bootstrap.tools.map(({ name }) => name) };
  };
  const before = await turn("before");
  expect(before.tools).toEqual(expect.arrayContaining(["message_agent", "check_delivery"]));
  const [rows] = gateway().rows<{ first: number; last: number; revision: number }>(
    `SELECT MIN(row) AS first, MAX(row) AS last, revision FROM messages JOIN sessions USING (session_id)
     WHERE agent = 'foreign' AND bot_chat = 1`,
  );
  await before.worker.persist(1n, {
    $case: "compactConversation",
    value: {
      firstRow: BigInt(rows?.first ?? 0),
      lastRow: BigInt(rows?.last ?? 0) - 1n,
      summary: "what was said",
      expectedRevision: BigInt(rows?.revision ?? 0),
    },
  });
  before.worker.result({ finalResponse: "compacted" });
  await before.worker.leave(1n);
  await ended(client(), before.deliveryId);
  const after = await turn("after");
  expect(after.tools).toEqual(before.tools);
  const message = { requestId: "", target: "carol", body: "from the next turn", inReplyTo: "", trace: undefined };
  const { delivery } = await unaryCall(after.worker.client, ExecutionStoreServiceService.sendDirectMessage, {
    fence: after.worker.fence,
    ...message,
  });
  expect(delivery?.sender?.id).toBe("agent:foreign");
  expect((await ended(client(), delivery?.deliveryId ?? "")).reply?.text).toBe("from the next turn");
  after.worker.result({ finalResponse: "sent" });
  await after.worker.leave();
  await ended(client(), after.deliveryId);
  // Its reply is an input of the sending chat.
  const told = await workers.next();
  expect((await told.running()).input?.text).toBe("from the next turn");
  told.result({ finalResponse: "noted" });
  await told.leave();
});

test("OC-1 a model that answers 429 again and again makes one input and its bounded attempts, all of them visible", async () => {
  model.otherwise("limited", (response) => {
    response.writeHead(429, { "content-type": "application/json", "retry-after": "0" });
    response.end(JSON.stringify({ error: { message: "Rate limit reached", type: "rate_limit_error" } }));
  });
  const { delivery } = await send(client(), { target: "limited", body: "once", onBehalfOf: "alice" });
  const end = await ended(client(), delivery.deliveryId);
  expect([stateName(end), failureOf(end)]).toEqual(["FAILED", "PROVIDER_RATE_LIMIT"]);
  expect(gateway().rows("SELECT 1 FROM inputs WHERE delivery_id = ?", delivery.deliveryId)).toHaveLength(1);
  const executions = gateway().rows<{ outcome: string }>(
    "SELECT outcome FROM executions WHERE input_id = ?",
    end.inputId,
  );
  expect(executions).toEqual([{ outcome: "failed" }, { outcome: "failed" }]);
  expect(transcript("limited").filter(({ role }) => role === "user")).toEqual([{ role: "user", text: "once" }]);
  expect((await get(client(), delivery.deliveryId)).lastError).toBeDefined();
});

test("OC-5 a recipient whose context is full is made shorter and asked once more, or fails with the reason", async () => {
  const again = await tell("bob", "!first !fail CONTEXT_OVERFLOW full\nfits now");
  expect(again.reply?.text).toBe("fits now");
  const full = await tell("bob", "!fail CONTEXT_OVERFLOW full");
  expect([stateName(full), failureOf(full), full.reply]).toEqual(["FAILED", "CONTEXT_OVERFLOW", undefined]);
  // Whatever was shown of it, the message itself is in the transcript.
  expect(
    transcript("bob").filter(({ role, text }) => role === "user" && text.includes("CONTEXT_OVERFLOW")),
  ).toHaveLength(2);
});
