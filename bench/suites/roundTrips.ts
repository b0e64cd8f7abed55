import type { Client } from "@grpc/grpc-js";
import { DeliveryState } from "../../src/gen/talaria/dm/v1/delivery.js";
import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { connectClient } from "../../src/rpc/clients/connectClient.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { makeHome, removeHome, writeConfig } from "../lib/benchHome.js";
import { startProcess, type BenchProcess } from "../lib/benchProcess.js";
import { freePort } from "../lib/freePort.js";
import { makeRow } from "../lib/row.js";
import { quantile } from "../lib/stats.js";
import type { GatewayMethods } from "../processes/gatewayProcess.js";
import { interleave, type Suite } from "../suite.js";

/** Messages of each kind in one round. */
const MESSAGES = 16;

interface Side {
  readonly name: string;
  readonly home: string;
  readonly gateway: BenchProcess<GatewayMethods>;
  readonly port: number;
  pin: string;
}

/** A message and its reply: from the send until the sender's gateway has the reply on disk, a turn of the recipient between. */
export const roundTrips: Suite = async ({ rounds, scale, progress }) => {
  const messages = Math.max(2, Math.round(MESSAGES * scale));
  const west = await makeSide("west", ["ada", "bob"]);
  const east = await makeSide("east", ["eve"]);
  let client: Client | undefined;
  try {
    for (const side of [west, east]) {
      // Only a gateway that has served has a key to be pinned.
      side.pin = (await side.gateway.call("start", { home: side.home })).pin;
      await side.gateway.call("stop", undefined);
    }
    pair(west, east);
    pair(east, west);
    const { addresses } = await west.gateway.call("start", { home: west.home });
    await east.gateway.call("start", { home: east.home });
    const connected = (client = await connectClient({
      address: addresses.clientSocket,
      purpose: "unix",
      ownConnection: true,
    }));
    // The pools follow use, and the link to the peer is made at the first message.
    await roundTrip(connected, "bob");
    await roundTrip(connected, "east/eve");
    progress(`round trips: ${String(messages)} messages a round, local and to a peer`);
    const taken = await interleave(rounds, ["local", "peer"], async (name) => {
      const { gateway } = name === "local" ? west : east;
      const times: number[] = [];
      for (let message = 0; message < messages; message++) {
        await gateway.call("pooledKib", undefined);
        times.push(await roundTrip(connected, name === "local" ? "bob" : "east/eve"));
      }
      return times;
    });
    connected.close();
    await Promise.all([west, east].map(({ gateway }) => gateway.call("stop", undefined)));
    return (["local", "peer"] as const).flatMap((name) =>
      ([0.5, 0.99] as const).map((at) =>
        makeRow({
          metric: `${name} message, warm: send to reply stored, p${String(at * 100)}`,
          unit: "ms",
          values: taken[name].map((times) => quantile(times, at)),
          ...(name === "peer"
            ? { baseline: { name: "local", values: taken.local.map((times) => quantile(times, at)) } }
            : {}),
        }),
      ),
    );
  } finally {
    client?.close();
    await Promise.all([west, east].map(({ gateway }) => gateway.end()));
    for (const { home } of [west, east]) removeHome(home);
  }
};

async function makeSide(name: string, agents: readonly string[]): Promise<Side> {
  const home = makeHome({ name, workers: { pool_size: 1 } }, agents);
  return { name, home, gateway: startProcess<GatewayMethods>("gatewayProcess"), port: await freePort(), pin: "" };
}

function pair({ name, home, port }: Side, other: Side): void {
  writeConfig(home, {
    name,
    workers: { pool_size: 1 },
    listeners: { peers: { host: "127.0.0.1", port } },
    peers: { [other.name]: { address: `127.0.0.1:${String(other.port)}`, pin: other.pin } },
  });
}

let keys = 0;

/** Sends a message and waits for its end. @returns milliseconds */
async function roundTrip(client: Client, target: string): Promise<number> {
  keys += 1;
  const began = performance.now();
  const { delivery } = await unaryCall(client, DirectMessageServiceService.sendDirectMessage, {
    requestId: `bench-${String(keys)}`,
    target,
    body: "Are you there?",
    inReplyTo: "",
    onBehalfOf: "",
    trace: undefined,
  });
  const deliveryId = delivery?.deliveryId ?? "";
  let last: DeliveryState | undefined;
  for await (const step of readStream(client, DirectMessageServiceService.watchDelivery, {
    deliveryId,
    cursor: undefined,
  })) {
    last = step.delivery?.state ?? last;
  }
  if (last !== DeliveryState.DELIVERY_STATE_REPLIED)
    throw new Error(`the message to ${target} ended as ${String(last)}`);
  return performance.now() - began;
}
