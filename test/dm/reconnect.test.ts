import type { Client } from "@grpc/grpc-js";
import { expect, test } from "vitest";

import { systemClock } from "../../src/base/clock.js";
import { PeerServiceService } from "../../src/gen/talaria/dm/v1/peer_service.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { RpcError } from "../../src/rpc/rpcError.js";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { readDeliveryTotals } from "../../src/store/deliveries/deliveryTotals.js";
import { deliverRequest } from "./calls.js";
import { inputsOf } from "./testGateway.js";
import { useGateways } from "./useGateways.js";

/** Peers that come at once, each with a key, a TLS connection, a watch and a message of its own. */
const PEERS = 50;
/** Longest call while all of them shake hands, milliseconds. */
const CALL_MS = 60_000;
const { use } = useGateways();

/** Comes as a peer: hears who answers, and delivers its message. @returns whether the message had been there before */
async function come(client: Client, key: string): Promise<boolean> {
  const watch = { caller: undefined, cursor: undefined };
  const stream = readStream(client, PeerServiceService.watchReceipts, watch, { timeoutMs: CALL_MS });
  for await (const { update } of stream) {
    expect(update?.$case).toBe("info");
    break;
  }
  const options = { timeoutMs: CALL_MS };
  return (await unaryCall(client, PeerServiceService.deliverDm, deliverRequest(key), options)).replayed;
}

/** Comes again until the gateway answers, as a peer does whose connection broke. */
async function comeBack(client: Client, key: string): Promise<boolean> {
  for (let left = 100; ; left--) {
    try {
      return await come(client, key);
    } catch (caught) {
      if (left === 0 || !(caught instanceof RpcError) || caught.reason !== "UNAVAILABLE") throw caught;
    }
  }
}

test(
  "fifty peers that reconnect at once all come back, and none is taken for another",
  { timeout: 120_000 },
  async () => {
    const hub = await use({ name: "hub", running: false });
    await hub.start();
    const identities = await Promise.all(Array.from({ length: PEERS }, () => ephemeralIdentity(systemClock.now())));
    identities.forEach(({ pin }, n) => hub.peers.set(`p${String(n)}`, { name: `p${String(n)}`, address: "", pin }));
    const clients = await Promise.all(identities.map((identity) => hub.callerAs(identity)));
    const first = await Promise.all(clients.map((client, n) => come(client, `k${String(n)}`)));
    expect(first.some((replayed) => replayed)).toBe(false);
    // Every connection breaks at the same moment.
    for (const { connections } of hub.listeners) {
      for (const connection of connections.list()) if (connection.identity !== undefined) connection.destroy();
    }
    const again = await Promise.all(clients.map((client, n) => comeBack(client, `k${String(n)}`)));
    expect(again.every((replayed) => replayed)).toBe(true);
    expect(readDeliveryTotals(hub.store.reader).accepted).toBe(PEERS);
    const authors = new Set(inputsOf(hub, "bob").map(({ author }) => author));
    expect(authors).toEqual(new Set(identities.map((_, n) => `agent:p${String(n)}/carol`)));
  },
);
