import { describe, expect, test } from "vitest";

import { Delivery, DeliveryRoute, DeliveryState } from "../../gen/talaria/dm/v1/delivery.js";
import { ReplyVia } from "../../gen/talaria/owner/v1/execution_store_service.js";
import { toFailure } from "../../rpc/wire/failure.js";
import { reasonError, RpcError } from "../../rpc/rpcError.js";
import type { OutgoingMessage } from "../storeClient.js";
import { runCheckDelivery } from "./checkDeliveryTool.js";
import { runMessageAgent, type MessageToolContext } from "./messageAgentTool.js";

const QUEUED = Delivery.fromPartial({
  deliveryId: "del_1",
  state: DeliveryState.DELIVERY_STATE_QUEUED,
  route: DeliveryRoute.DELIVERY_ROUTE_LOCAL,
  target: "Bob",
  recipient: { gateway: "", agent: "bob" },
  position: 2,
});

interface Script {
  readonly replyVia?: ReplyVia;
  readonly replayed?: boolean;
  readonly delivery?: Delivery | undefined;
  readonly error?: Error;
  readonly signal?: AbortSignal;
}

function contextOf(script: Script): MessageToolContext & { readonly sent: OutgoingMessage[] } {
  const { replyVia = ReplyVia.REPLY_VIA_NOTIFICATION, replayed = false, error } = script;
  const delivery = "delivery" in script ? script.delivery : QUEUED;
  const sent: OutgoingMessage[] = [];
  return {
    sent,
    signal: script.signal ?? new AbortController().signal,
    sendDirectMessage(message) {
      sent.push(message);
      return error === undefined ? Promise.resolve({ delivery, replyVia, replayed }) : Promise.reject(error);
    },
    getDelivery: () =>
      delivery === undefined || error !== undefined
        ? Promise.reject(error ?? new Error("nothing to give"))
        : Promise.resolve(delivery),
  };
}

const send = async (
  script: Script,
  args: unknown = { target: "Bob", message: "hi" },
): Promise<Record<string, unknown>> =>
  JSON.parse(await runMessageAgent(contextOf(script), args)) as Record<string, unknown>;
const look = async (script: Script, args: unknown = { delivery_id: "del_1" }): Promise<Record<string, unknown>> =>
  JSON.parse(await runCheckDelivery(contextOf(script), args)) as Record<string, unknown>;

describe("message_agent", () => {
  test("DM033 acknowledges with state, id, recipient, way of the reply and place, and never says delivered", async () => {
    const ack = await send({});
    expect(ack).toMatchObject({
      status: "queued",
      delivery_id: "del_1",
      to: "@bob",
      reply_via: "notification",
      queue_position: 2,
    });
    expect(ack["detail"]).toContain("finish your turn");
    expect(JSON.stringify(ack)).not.toMatch(/delivered|\bsent\b/);
  });

  test("DM041 says poll, and to look, where the reply cannot come", async () => {
    const ack = await send({ replyVia: ReplyVia.REPLY_VIA_POLL });
    expect(ack["reply_via"]).toBe("poll");
    expect(ack["detail"]).toContain("check_delivery");
  });

  test("DM-R12 says of a message that is on its way already that it was sent before", async () => {
    expect(await send({ replayed: true })).toMatchObject({ already_sent: true, delivery_id: "del_1" });
  });

  test("hands on the text as it is, and what it answers", async () => {
    const context = contextOf({});
    const body = 'lines\n$(rm -rf /) "quotes"';
    await runMessageAgent(context, { target: "@Bob", message: body, in_reply_to: "del_0" });
    expect(context.sent).toEqual([{ target: "@Bob", body, inReplyTo: "del_0" }]);
  });

  test.each([
    [new RpcError("UNKNOWN_TARGET", { metadata: { target: "Bob", agents: "carl, dora" } }), "after_change"],
    [reasonError("LOOP_GUARD", undefined, { retryAfterMs: 59_500 }), "later"],
    [reasonError("NOT_BOT_CHAT", undefined, { metadata: { retry: "never" } }), "never"],
    [reasonError("DEPTH_EXCEEDED"), "never"],
  ])("answers %s with a refusal that says whether to retry", async (error, retry) => {
    const refusal = await send({ error });
    expect(refusal).toMatchObject({ status: "refused", reason: error.reason, retry, hint: error.hint });
    expect(refusal).not.toHaveProperty("delivery_id");
    expect(refusal["detail"]).toContain("not delivered");
    if (error.reason === "UNKNOWN_TARGET") expect(refusal["agents"]).toBe("carl, dora");
    if (error.reason === "LOOP_GUARD") expect(refusal["retry_after_seconds"]).toBe(60);
  });

  test.each(["DEADLINE_EXCEEDED", "UNAVAILABLE", "INTERNAL"] as const)(
    "says of a call that ended with %s that nobody knows, and not to repeat it",
    async (reason) => {
      expect(await send({ error: new RpcError(reason) })).toMatchObject({ status: "unknown", retry: "no", reason });
    },
  );

  test("says the same of an answer that holds no delivery", async () => {
    expect(await send({ delivery: undefined })).toMatchObject({ status: "unknown", retry: "no" });
  });

  test.each([[{}], [{ target: "bob" }], [{ target: "bob", message: "hi", from: "ceo" }], ["bob"], [null]])(
    "refuses the arguments %j without sending anything",
    async (args) => {
      const context = contextOf({});
      const refusal: unknown = JSON.parse(await runMessageAgent(context, args));
      expect(refusal).toMatchObject({ status: "refused", reason: "INVALID_FIELD", retry: "after_change" });
      expect(context.sent).toEqual([]);
    },
  );

  test("a stop is no refusal", async () => {
    const signal = AbortSignal.abort(new RpcError("TURN_STOPPED"));
    await expect(send({ signal, error: new RpcError("CANCELLED") })).rejects.toMatchObject({ reason: "TURN_STOPPED" });
  });
});

describe("check_delivery", () => {
  const reply = { text: "yes", truncated: false, sha256: Buffer.alloc(32), codePoints: 3n, repliedAt: undefined };
  const delivery = (part: Parameters<typeof Delivery.fromPartial>[0]): Delivery =>
    Delivery.fromPartial({ ...QUEUED, position: 0, ...part });

  test("gives the reply, and says where it was cut", async () => {
    const whole = delivery({ state: DeliveryState.DELIVERY_STATE_REPLIED, reply });
    expect(await look({ delivery: whole })).toMatchObject({ status: "replied", reply: "yes" });
    const cut = delivery({
      state: DeliveryState.DELIVERY_STATE_REPLIED,
      reply: { ...reply, truncated: true, codePoints: 40_000n },
    });
    expect(await look({ delivery: cut })).toMatchObject({ reply_truncated: true, reply_code_points: 40_000 });
  });

  test("gives why a message failed, and says that it was not delivered", async () => {
    const failure = toFailure({ reason: "TURN_FAILED", message: "It failed.", hint: "Read it.", retryable: false });
    const failed = await look({ delivery: delivery({ state: DeliveryState.DELIVERY_STATE_FAILED, failure }) });
    expect(failed).toMatchObject({ status: "failed", reason: "TURN_FAILED", error: "It failed.", hint: "Read it." });
    expect(failed["detail"]).toContain("not delivered");
  });

  test.each([
    [DeliveryState.DELIVERY_STATE_QUEUED, "queued"],
    [DeliveryState.DELIVERY_STATE_CLAIMED, "claimed"],
    [DeliveryState.DELIVERY_STATE_SILENT, "silent"],
    [DeliveryState.DELIVERY_STATE_EXPIRED, "expired"],
    [DeliveryState.DELIVERY_STATE_CANCELLED, "cancelled"],
    [DeliveryState.DELIVERY_STATE_UNKNOWN, "unknown"],
    [99 as DeliveryState, "unknown"],
  ])("names the state %s", async (state, status) => {
    const text = await look({ delivery: delivery({ state }) });
    expect(text["status"]).toBe(status);
    expect(text["detail"]).not.toBe("");
  });

  test("writes recipients elsewhere in forms that work", async () => {
    const recipient = { gateway: "south", agent: "main" };
    const peer = delivery({ recipient, route: DeliveryRoute.DELIVERY_ROUTE_PEER_OUTBOUND });
    expect((await look({ delivery: peer }))["to"]).toBe("@south/main");
    const relay = delivery({ recipient, route: DeliveryRoute.DELIVERY_ROUTE_RELAY_OUTBOUND });
    expect((await look({ delivery: relay }))["to"]).toBe("@main@south");
  });

  test("refuses what it does not know and what is malformed", async () => {
    expect(await look({ error: reasonError("UNKNOWN_DELIVERY") })).toMatchObject({
      status: "refused",
      retry: "after_change",
    });
    expect(await look({ error: new RpcError("UNAVAILABLE") })).toMatchObject({ status: "refused", retry: "later" });
    expect(await look({}, { id: 1 })).toMatchObject({ reason: "INVALID_FIELD" });
  });
});
