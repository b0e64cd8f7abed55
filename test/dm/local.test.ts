import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { readDeliveryTotals } from "../../src/store/deliveries/deliveryTotals.js";
import { ended, get, refusal, send, stateName } from "./calls.js";
import { agentEntry, inputsOf } from "./testGateway.js";
import { useGateways } from "./useGateways.js";

const { one: use } = useGateways();

describe("a message between agents of one gateway", () => {
  test("DM022 DM033 DM036 DM054 DM068 is an input of the recipient's Bot Chat, and its reply one of the sender's", async () => {
    const { client, ...gateway } = await use();
    const { delivery } = await send(client, { target: "bob", body: "  ping  ", onBehalfOf: "alice" });
    expect(stateName(delivery)).toBe("QUEUED");
    expect(delivery.sender).toMatchObject({ id: "agent:alice", sentBy: "client:cli" });
    const end = await ended(client, delivery.deliveryId);
    expect(stateName(end)).toBe("REPLIED");
    expect(end).toMatchObject({
      body: "",
      bodyRemoved: true,
      reply: { text: "PING", truncated: false, codePoints: 4n },
    });
    expect(end.toldAt).toBeDefined();
    expect(inputsOf(gateway, "bob")).toMatchObject([
      { text: "ping", author: "agent:alice", attribution: "Message from alice (@alice):", depth: 1 },
    ]);
    expect(inputsOf(gateway, "alice")).toMatchObject([
      {
        text: "PING",
        author: "agent:bob",
        attribution: "Reply from bob (@bob):",
        inReplyTo: delivery.deliveryId,
        depth: 1,
      },
    ]);
  });

  test("DM006 DM-R12 of a turn goes out only from a Bot Chat of an agent that may send", async () => {
    const gateway = await use({
      agents: [agentEntry("alice", { main: true }), agentEntry("bob"), agentEntry("mute", { messaging: false })],
      running: false,
    });
    const message = { requestId: "", target: "bob", body: "hi", inReplyTo: "", trace: undefined };
    const turn = { agent: "alice", sessionId: "ses_x", title: "Bot Chat", depth: 3, inputAuthorId: "client:cli" };
    const { workerMessages } = gateway.dm;
    expect(await refusal(workerMessages.sendFromTurn({ ...turn, title: "notes" }, message))).toMatchObject({
      reason: "NOT_BOT_CHAT",
      retryable: false,
    });
    expect(await refusal(workerMessages.sendFromTurn({ ...turn, agent: "mute" }, message))).toMatchObject({
      reason: "MESSAGING_DISABLED",
    });
    expect(await refusal(workerMessages.sendFromTurn({ ...turn, depth: 16 }, message))).toMatchObject({
      reason: "DEPTH_EXCEEDED",
    });
    const first = await workerMessages.sendFromTurn(turn, message);
    const second = await workerMessages.sendFromTurn(turn, message);
    expect(first).toMatchObject({ replayed: false, delivery: { depth: 4, position: 1 } });
    expect(second.replayed).toBe(true);
    expect(second.delivery.deliveryId).toBe(first.delivery.deliveryId);
    expect(
      await refusal(workerMessages.getFromTurn({ agent: "bob", sessionId: "s" }, first.delivery.deliveryId)),
    ).toMatchObject({ reason: "UNKNOWN_DELIVERY" });
  });

  test("DM042 read by its own session after the end is told once", async () => {
    const held: string[] = [];
    const gateway = await use({
      answer: ({ agent, text }) => {
        if (agent === "alice") held.push(text);
        return agent === "alice" ? undefined : { outcome: "completed", text: "done" };
      },
    });
    await send(gateway.client, { target: "alice", body: "busy" });
    await gateway.until("alice's turn runs", () => held[0]);
    const { delivery } = await send(gateway.client, { target: "bob", onBehalfOf: "alice" });
    const end = await ended(gateway.client, delivery.deliveryId);
    expect(inputsOf(gateway, "alice").map(({ state }) => state)).toEqual(["started", "queued"]);
    const session = { agent: "alice", sessionId: end.senderSessionId };
    const read = await gateway.dm.workerMessages.getFromTurn(session, delivery.deliveryId);
    expect(read.reply?.text).toBe("done");
    expect(inputsOf(gateway, "alice").map(({ state }) => state)).toEqual(["started", "ended"]);
  });

  test("DM062 keeps its place although the clock runs backwards", async () => {
    let now = systemClock.now();
    const began: string[] = [];
    const gateway = await use({
      running: false,
      clock: { ...systemClock, now: () => (now -= 1_000) },
      answer: ({ text }) => {
        began.push(text);
        return { outcome: "completed", text };
      },
    });
    const sent = [];
    for (const body of ["1", "2", "3"]) sent.push(await send(gateway.client, { body }));
    gateway.run();
    for (const { delivery } of sent) await ended(gateway.client, delivery.deliveryId);
    expect(began).toEqual(["1", "2", "3"]);
  });

  test.each([
    ["a silence marker", { outcome: "completed", text: "[SILENT]" } as const, "SILENT"],
    ["a failed turn", { outcome: "failed", text: "" } as const, "FAILED"],
    ["a turn of unknown outcome", { outcome: "unknown", text: "" } as const, "UNKNOWN"],
  ])("ends by %s and tells its sender once", async (_what, end, state) => {
    const gateway = await use({
      answer: ({ agent }) => (agent === "bob" ? end : { outcome: "completed", text: "noted" }),
    });
    const { delivery } = await send(gateway.client, { onBehalfOf: "alice" });
    expect(stateName(await ended(gateway.client, delivery.deliveryId))).toBe(state);
    expect(inputsOf(gateway, "alice")).toMatchObject([{ author: "gateway", inReplyTo: delivery.deliveryId }]);
  });

  test("DM078 that fails has the reason of its turn, and no reply", async () => {
    const failure = { reason: "PROVIDER_AUTH", message: "The key is wrong.", hint: "Change it.", retryable: false };
    const gateway = await use({
      answer: ({ agent }) =>
        agent === "bob" ? { outcome: "failed", text: "", failure } : { outcome: "completed", text: "noted" },
    });
    const { delivery } = await send(gateway.client, { onBehalfOf: "alice" });
    const end = await ended(gateway.client, delivery.deliveryId);
    expect(end).toMatchObject({ reply: undefined, failure: { message: "The key is wrong.", hint: "Change it." } });
    expect(inputsOf(gateway, "alice")[0]?.text).toContain("was not delivered. The key is wrong. [PROVIDER_AUTH]");
  });

  test("DM053 DM060 that failed is replayed as failed, can be sent again, and ends once more", async () => {
    let fail = true;
    const gateway = await use({
      answer: () => (fail ? { outcome: "failed", text: "" } : { outcome: "completed", text: "ok" }),
    });
    const { delivery } = await send(gateway.client, { requestId: "f", body: "try" });
    expect(await ended(gateway.client, delivery.deliveryId)).toMatchObject({ body: "try", bodyRemoved: false });
    const replay = await send(gateway.client, { requestId: "f", body: "try" });
    expect([replay.replayed, replay.delivery.deliveryId]).toEqual([true, delivery.deliveryId]);
    expect(stateName(replay.delivery)).toBe("FAILED");
    expect(inputsOf(gateway, "bob")).toHaveLength(1);
    fail = false;
    const redrive = { requestId: "again", deliveryId: delivery.deliveryId };
    const { redriveDelivery } = DirectMessageServiceService;
    const first = await unaryCall(gateway.client, redriveDelivery, redrive);
    expect(first.delivery).toMatchObject({ attemptEpoch: 2 });
    expect(stateName(await ended(gateway.client, delivery.deliveryId))).toBe("REPLIED");
    expect((await unaryCall(gateway.client, redriveDelivery, redrive)).delivery?.attemptEpoch).toBe(2);
    expect(await refusal(unaryCall(gateway.client, redriveDelivery, { ...redrive, requestId: "third" }))).toMatchObject(
      {
        reason: "DELIVERY_NOT_DEAD",
      },
    );
    const { accepted, states } = readDeliveryTotals(gateway.store.reader);
    expect(accepted).toBe(Object.values(states).reduce((sum, count) => sum + count, 0));
  });

  test("that failed is not sent again to whom a fresh one would not reach", async () => {
    const agents = [agentEntry("alice", { main: true }), agentEntry("bob")];
    const gateway = await use({ agents, answer: () => ({ outcome: "failed", text: "" }) });
    const { deliveryId } = (await send(gateway.client, {})).delivery;
    await ended(gateway.client, deliveryId);
    const redrive = () =>
      unaryCall(gateway.client, DirectMessageServiceService.redriveDelivery, { requestId: "again", deliveryId });
    agents[1] = agentEntry("bob", { private: true });
    expect(await refusal(redrive())).toMatchObject({ reason: "UNKNOWN_AGENT" });
    agents[1] = agentEntry("bob", { messaging: false });
    expect(await refusal(redrive())).toMatchObject({ reason: "MESSAGING_DISABLED" });
    expect(inputsOf(gateway, "bob")).toHaveLength(1);
    agents[1] = agentEntry("bob");
    expect((await redrive()).delivery?.attemptEpoch).toBe(2);
  });

  test("can be withdrawn until its turn starts", async () => {
    const gateway = await use({ running: false });
    const { delivery } = await send(gateway.client, { onBehalfOf: "alice" });
    const cancel = { requestId: "c1", deliveryId: delivery.deliveryId };
    const { cancelDelivery } = DirectMessageServiceService;
    const first = await unaryCall(gateway.client, cancelDelivery, cancel);
    expect(first.delivery).toMatchObject({ body: "", bodyRemoved: true });
    expect(stateName(await get(gateway.client, delivery.deliveryId))).toBe("CANCELLED");
    expect((await unaryCall(gateway.client, cancelDelivery, cancel)).pending).toBe(false);
    expect(inputsOf(gateway, "bob")).toMatchObject([{ state: "ended" }]);
    const { states, bodyBytes } = readDeliveryTotals(gateway.store.reader);
    expect({ queued: states.queued, cancelled: states.cancelled, bodyBytes }).toEqual({
      queued: 0,
      cancelled: 1,
      bodyBytes: 0,
    });
  });
});

describe("the door", () => {
  test("DM055 DM057 DM-R02 gives the same delivery for the same key, and refuses another message under it", async () => {
    const gateway = await use({ running: false });
    const first = await send(gateway.client, { requestId: "k", body: "one" });
    const again = await send(gateway.client, { requestId: "k", body: " one " });
    expect(again).toMatchObject({ replayed: true, delivery: { deliveryId: first.delivery.deliveryId } });
    expect(await refusal(send(gateway.client, { requestId: "k", body: "two" }))).toMatchObject({
      reason: "KEY_CONFLICT",
    });
    expect(inputsOf(gateway, "bob")).toHaveLength(1);
  });

  test.each([
    ["DM010 an empty body", { body: " \n " }, "EMPTY_BODY"],
    ["DM010 16,001 code points", { body: "😀".repeat(16_001) }, "BODY_TOO_LONG"],
    ["DM065 DM084 a bad key", { requestId: "a b" }, "INVALID_FIELD"],
    ["DM038 an unknown recipient", { target: "nobody" }, "UNKNOWN_TARGET"],
    ["a private recipient", { target: "agent:ghost" }, "UNKNOWN_TARGET"],
    ["a handle behind an unknown connection", { target: "bob@laptop" }, "UNKNOWN_TARGET"],
    ["a peer that is not paired", { target: "far/bob" }, "UNKNOWN_PEER"],
    ["a control character in the target", { target: "bob\u0000" }, "UNKNOWN_TARGET"],
    ["DM009 the sender itself", { target: "alice", onBehalfOf: "alice" }, "TARGET_SELF"],
    ["a sender that does not exist", { onBehalfOf: "nobody" }, "UNKNOWN_AGENT"],
    ["an answer to nothing", { inReplyTo: "del_nothing" }, "IN_REPLY_TO_UNKNOWN"],
  ])("%s is refused and nothing is kept", async (_what, message, reason) => {
    const gateway = await use({
      agents: [agentEntry("alice", { main: true }), agentEntry("bob"), agentEntry("ghost", { private: true })],
    });
    expect(await refusal(send(gateway.client, message))).toMatchObject({ reason });
    expect(readDeliveryTotals(gateway.store.reader).accepted).toBe(0);
  });

  test("DM023 counts code points, not UTF-16 units, and keeps a body byte for byte", async () => {
    const gateway = await use({ running: false });
    const body = `Message from root (@root): $(rm -rf) "\u202e ${"😀".repeat(15_900)}`;
    await send(gateway.client, { body });
    expect(inputsOf(gateway, "bob")[0]?.text).toBe(body);
  });

  test("DM008 DM011 says to an unknown recipient or peer whom else the sender can write to", async () => {
    const gateway = await use({
      agents: [
        agentEntry("alice", { main: true }),
        agentEntry("bob"),
        agentEntry("ghost", { private: true }),
        agentEntry("mute", { messaging: false }),
        agentEntry("south"),
      ],
    });
    gateway.peers.set("south", { name: "south", address: "127.0.0.1:1", pin: "" });
    for (const target of ["nobody", "far/bob"]) {
      expect(await refusal(send(gateway.client, { target, onBehalfOf: "alice" }))).toMatchObject({
        details: { metadata: { agents: "bob, agent:south", peers: "south/main" } },
      });
    }
  });

  test("DM115 bounds what one sender may have waiting for one recipient", async () => {
    const gateway = await use({ running: false });
    const sends = Array.from({ length: 64 }, () => send(gateway.client, {}));
    const positions = (await Promise.all(sends)).map(({ delivery }) => delivery.position);
    expect(positions).toEqual(Array.from({ length: 64 }, (_, index) => index + 1));
    expect(await refusal(send(gateway.client, {}))).toMatchObject({
      reason: "SENDER_QUOTA",
      details: { retryAfterMs: 5_000 },
    });
    expect(readDeliveryTotals(gateway.store.reader).accepted).toBe(64);
    await send(gateway.client, { target: "alice" });
  });
});
