import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { readDestination } from "../../src/store/deliveries/destinations.js";
import { readDeliveryTotals } from "../../src/store/deliveries/deliveryTotals.js";
import { ended, get, refusal, send, stateName } from "./calls.js";
import { inviteOf, join, linked } from "./invites.js";
import { freshHome, inputsOf } from "./testGateway.js";
import { useGateways } from "./useGateways.js";

const { use, two } = useGateways();

describe("a destination", () => {
  test("that is held keeps its mail waiting across a restart, and sends it in order once released", async () => {
    const home = freshHome();
    const { north, south } = await two({ home });
    await join(south, await inviteOf(north));
    await north.dm.registry.hold("south", "client:ops", "moving house");
    const sent = [];
    for (const body of ["one", "two", "three"]) sent.push(await send(north.client, { target: "south/bob", body }));
    const withdrawn = await send(north.client, { target: "south/bob", body: "never mind" });
    await north.close();
    const again = await use({ name: "north", home, identity: north.identity });
    await again.start();
    await linked(again, "south");
    expect(readDeliveryTotals(again.store.reader).states.queued).toBe(4);
    expect(inputsOf(south, "bob")).toEqual([]);
    // After the restart nobody here knows whether it had gone out; its peer does.
    const cancel = { requestId: "c", deliveryId: withdrawn.delivery.deliveryId };
    const answer = await unaryCall(again.client, DirectMessageServiceService.cancelDelivery, cancel);
    expect([answer.pending, answer.delivery && stateName(answer.delivery)]).toEqual([false, "CANCELLED"]);
    await again.dm.registry.release("south", "client:ops");
    for (const { delivery } of sent) {
      expect(stateName(await ended(again.client, delivery.deliveryId))).toBe("REPLIED");
    }
    expect(inputsOf(south, "bob").map(({ text }) => text)).toEqual(["one", "two", "three"]);
    expect(await refusal(again.dm.registry.hold("nobody", "x", "y"))).toMatchObject({ reason: "UNKNOWN_PEER" });
  });

  test("that proves another key than the pinned one gets nothing, and says why it is not reached", async () => {
    const { north, south } = await two({ budgets: { peerRetryMinMs: 5, peerRetryMaxMs: 5 } }, { running: false });
    const { pin } = await ephemeralIdentity(systemClock.now());
    north.peers.set("south", { name: "south", address: south.peerAddress, pin });
    const { delivery } = await send(north.client, { target: "south/bob" });
    const { lastError } = await north.until("the failure is stored", () => {
      const known = readDestination(north.store.reader, "south");
      return known.failures > 0 ? known : undefined;
    });
    expect(lastError?.reason).toBe("PEER_PIN_MISMATCH");
    expect(stateName(await get(north.client, delivery.deliveryId))).toBe("QUEUED");
    expect(readDeliveryTotals(south.store.reader).accepted).toBe(0);
  });

  test("whose breaker is open is tried at once when it is released", async () => {
    const { north, south } = await two({ budgets: { peerRetryMinMs: 3_600_000, peerRetryMaxMs: 3_600_000 } });
    await join(south, await inviteOf(north));
    await linked(north, "south");
    await south.close();
    await north.until("the breaker is open", () =>
      north.store.reader.get<{ failures: number }>("SELECT failures FROM destinations WHERE failures > 0"),
    );
    const back = await use({ name: "south", home: south.home, identity: south.identity });
    await back.start();
    await north.dm.registry.update({ name: "south", address: back.peerAddress });
    const { delivery } = await send(north.client, { target: "south/bob", body: "now" });
    expect(north.dm.wayTo("south")?.connected).toBe(false);
    await north.dm.registry.release("south", "client:ops");
    expect(await ended(north.client, delivery.deliveryId)).toMatchObject({ reply: { text: "NOW" } });
  });

  test("whose breaker is reset is tried at once, unless it is held; who and when are kept", async () => {
    const { north, south } = await two({ budgets: { peerRetryMinMs: 3_600_000, peerRetryMaxMs: 3_600_000 } });
    await join(south, await inviteOf(north));
    await linked(north, "south");
    await south.close();
    await north.until("the breaker is open", () =>
      readDestination(north.store.reader, "south").failures > 0 ? true : undefined,
    );
    const back = await use({ name: "south", home: south.home, identity: south.identity });
    await back.start();
    await north.dm.registry.update({ name: "south", address: back.peerAddress });
    await north.dm.registry.hold("south", "client:ops", "moving house");
    const { delivery } = await send(north.client, { target: "south/bob", body: "now" });
    await north.dm.registry.reset("south", "client:other");
    await linked(north, "south");
    expect(readDestination(north.store.reader, "south")).toMatchObject({
      failures: 0,
      lastError: undefined,
      hold: { by: "client:ops", reason: "moving house" },
      reset: { by: "client:other", at: expect.any(Number) as number },
    });
    expect(stateName(await get(north.client, delivery.deliveryId))).toBe("QUEUED");
    await north.dm.registry.release("south", "client:ops");
    expect(await ended(north.client, delivery.deliveryId)).toMatchObject({ reply: { text: "NOW" } });
    expect(readDestination(north.store.reader, "south").reset?.by).toBe("client:ops");
    expect(await refusal(north.dm.registry.reset("nobody", "x"))).toMatchObject({ reason: "UNKNOWN_PEER" });
  });
});
