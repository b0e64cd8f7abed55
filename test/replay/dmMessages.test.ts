import { expect, test } from "vitest";

import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { readDeliveryTotals } from "../../src/store/deliveries/deliveryTotals.js";
import { ended, get, refusal, send, stateName, watchToEnd } from "../dm/calls.js";
import { inputsOf } from "../dm/testGateway.js";
import { useGateways } from "../dm/useGateways.js";
import { waitUntil } from "../kit/waitFor.js";

const { one: use, pair } = useGateways();

test("DM-R03 DM041 a message of a client tells nobody, and its watch shows each state in order", async () => {
  const gateway = await use({ running: false });
  const { delivery } = await send(gateway.client, { target: "bob" });
  const watched = watchToEnd(gateway.client, delivery.deliveryId);
  gateway.run();
  const steps = await watched;
  const states = steps.map((step) => (step.delivery === undefined ? "" : stateName(step.delivery)));
  expect(states.at(-1)).toBe("REPLIED");
  expect(states.filter((state, index) => states.indexOf(state) === index)).toEqual(states);
  expect(steps.at(-1)?.delivery?.toldAt).toBeUndefined();
  expect(inputsOf(gateway, "alice")).toEqual([]);
});

test("DM-R18 DM-R19 DM097 a message waits for the turn that runs there, and another recipient's does not", async () => {
  const began: string[] = [];
  const gateway = await use({
    answer: ({ agent, text }) => {
      began.push(text);
      return agent === "bob" ? undefined : { outcome: "completed", text: "here" };
    },
  });
  await send(gateway.client, { body: "long" });
  await gateway.until("bob's turn runs", () => began[0]);
  const second = await send(gateway.client, { body: "next" });
  const other = await send(gateway.client, { target: "alice", body: "other" });
  expect(stateName(await ended(gateway.client, other.delivery.deliveryId))).toBe("REPLIED");
  expect(stateName(await get(gateway.client, second.delivery.deliveryId))).toBe("QUEUED");
  expect(inputsOf(gateway, "bob").map(({ text, state }) => `${text} ${state}`)).toEqual([
    "long started",
    "next queued",
  ]);
  expect(began).toEqual(["long", "other"]);
});

test("DM-R13 a message whose turn answers and also writes back brings each once, and nothing goes round", async () => {
  const gateway = await use({ running: false });
  const { delivery } = await send(gateway.client, { body: "ping", onBehalfOf: "alice" });
  const turn = { agent: "bob", sessionId: "ses_b", title: "Bot Chat", depth: 1, inputAuthorId: "agent:alice" };
  const aside = { requestId: "", target: "alice", body: "by the way", inReplyTo: "", trace: undefined };
  await gateway.dm.workerMessages.sendFromTurn(turn, aside);
  gateway.run();
  await gateway.until("alice has had both", () => {
    const inputs = inputsOf(gateway, "alice");
    return inputs.length >= 2 && inputs.every(({ state }) => state === "ended") ? true : undefined;
  });
  const came = inputsOf(gateway, "alice").map(({ text, inReplyTo }) => [text, inReplyTo ?? ""]);
  expect(new Map(came.map(([text, inReplyTo]) => [text, inReplyTo]))).toEqual(
    new Map([
      ["by the way", ""],
      ["PING", delivery.deliveryId],
    ]),
  );
  expect(came).toHaveLength(2);
  expect(readDeliveryTotals(gateway.store.reader)).toMatchObject({ accepted: 2, states: { replied: 2 } });
});

test("DM-R45 the door stops two agents that answer one another too fast", async () => {
  const gateway = await use({ running: false });
  const turn = { agent: "alice", sessionId: "ses_x", title: "Bot Chat", depth: 0, inputAuthorId: "agent:bob" };
  const message = (n: number) => ({
    requestId: `l${String(n)}`,
    target: "bob",
    body: "hi",
    inReplyTo: "",
    trace: undefined,
  });
  for (let n = 0; n < 20; n++) await gateway.dm.workerMessages.sendFromTurn(turn, message(n));
  expect(await refusal(gateway.dm.workerMessages.sendFromTurn(turn, message(20)))).toMatchObject({
    reason: "LOOP_GUARD",
    details: { retryAfterMs: 60_000 },
  });
  await gateway.dm.workerMessages.sendFromTurn({ ...turn, inputAuthorId: "client:cli" }, message(21));
});

test("DM-R45 a peer's main agent is one agent to the loop guard, by whichever of its names it writes and is written to", async () => {
  const { north } = await pair();
  await waitUntil(
    "the roster is known",
    () => north.dm.rosterOf("south") !== undefined,
    () => north.dm.wayTo("south"),
  );
  const guarded = async (from: string, target: string): Promise<string> => {
    const turn = { agent: "bob", sessionId: "ses_x", title: "Bot Chat", depth: 0, inputAuthorId: from };
    const message = { target, body: "hi", inReplyTo: "", trace: undefined };
    for (let n = 0; n < 20; n++) {
      await north.dm.workerMessages.sendFromTurn(turn, {
        ...message,
        requestId: `${target.replace("/", ":")}.${String(n)}`,
      });
    }
    const last = north.dm.workerMessages.sendFromTurn(turn, {
      ...message,
      requestId: `${target.replace("/", ":")}.last`,
    });
    return last.then(
      () => "sent",
      (caught: unknown) => (caught as { reason: string }).reason,
    );
  };
  expect(await guarded("agent:south/alice", "south")).toBe("LOOP_GUARD");
  expect(await guarded("agent:south/main", "south/alice")).toBe("LOOP_GUARD");
  expect(await guarded("agent:south/alice", "south/bob")).toBe("sent");
});

test("DM-R10 lists deliveries in pages, newest first, without bodies", async () => {
  const gateway = await use({ running: false });
  for (let n = 0; n < 5; n++) await send(gateway.client, { body: `m${String(n)}` });
  const list = (pageToken: string) =>
    unaryCall(gateway.client, DirectMessageServiceService.listDeliveries, {
      pageSize: 2,
      pageToken,
      states: [],
      agent: "bob",
      gateway: "",
    });
  const first = await list("");
  const second = await list(first.nextPageToken);
  const third = await list(second.nextPageToken);
  const rows = [first, second, third].flatMap(({ deliveries }) => deliveries);
  expect(rows.map(({ position }) => position)).toEqual([5, 4, 3, 2, 1]);
  expect(rows.every(({ body }) => body === "")).toBe(true);
  for (const row of rows) expect([stateName(row), row.recipient?.agent]).toEqual(["QUEUED", "bob"]);
  expect(third.nextPageToken).toBe("");
  expect(await refusal(list("bogus"))).toMatchObject({ reason: "INVALID_PAGE_TOKEN" });
});

test("DM-R44 DM106 a message to a peer ends SILENT where its agent chooses not to answer", async () => {
  const { north } = await pair({}, { answer: () => ({ outcome: "completed", text: "[SILENT]" }) });
  const { delivery } = await send(north.client, { target: "south/bob" });
  const end = await ended(north.client, delivery.deliveryId);
  expect([stateName(end), end.reply]).toEqual(["SILENT", undefined]);
});

test("DM-R15 messages to a peer keep their order for each recipient", async () => {
  const { north, south } = await pair();
  const sent = [];
  for (let n = 0; n < 12; n++) sent.push(await send(north.client, { target: "south/bob", body: `m${String(n)}` }));
  await Promise.all(sent.map(({ delivery }) => ended(north.client, delivery.deliveryId)));
  expect(inputsOf(south, "bob").map(({ text }) => text)).toEqual(sent.map((_, n) => `m${String(n)}`));
});
