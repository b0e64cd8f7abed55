import type { Client } from "@grpc/grpc-js";
import { DeliveryState, type Delivery } from "../../src/gen/talaria/dm/v1/delivery.js";
import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { connectClient } from "../../src/rpc/clients/connectClient.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { makeHome, removeHome, writeConfig } from "../lib/benchHome.js";
import { startProcess, type BenchProcess } from "../lib/benchProcess.js";
import { freePort } from "../lib/freePort.js";
import { makeRow, type Row } from "../lib/row.js";
import { quantile } from "../lib/stats.js";
import type { GatewayMethods } from "../processes/gatewayProcess.js";
import { interleave, type Suite } from "../suite.js";

/** Messages of each kind in one round. */
const MESSAGES = 32;
/** Longest wait for a reply, milliseconds. */
const LIMIT_MS = 60_000;

/** A message and the size of its reply, bytes of UTF-8. */
interface Exchange {
  readonly body: string;
  readonly replyBytes: number;
}

/** 512 words of 32 bytes: a body of 16 KiB in ASCII alone would be longer than a body may be. */
const LONG = Array.from({ length: 512 }, () => `${"ü".repeat(15)}n`)
  .join(" ")
  .concat("n");

/** The echo runtime answers a plain body with itself, and the last one with what it asks for. */
const EXCHANGES = {
  "16 B, reply 16 B": { body: "Are you at home?", replyBytes: 16 },
  "16 KiB, reply 16 KiB": { body: LONG, replyBytes: 16_384 },
  "16 B, reply 16 KiB": { body: "!repeat  8192 ab", replyBytes: 16_384 },
} satisfies Readonly<Record<string, Exchange>>;

type ExchangeName = keyof typeof EXCHANGES;
const SHORT: ExchangeName = "16 B, reply 16 B";
const NAMES = Object.keys(EXCHANGES) as ExchangeName[];
const KINDS = (["local", "peer"] as const).flatMap((way) => NAMES.map((name) => `${way} message, ${name}` as const));
type Kind = (typeof KINDS)[number];

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
    await roundTrip(connected, "bob", EXCHANGES[SHORT]);
    await roundTrip(connected, "east/eve", EXCHANGES[SHORT]);
    progress(`round trips: ${String(messages)} messages of each kind a round, local and to a peer, short and long`);
    const taken = await interleave(rounds, KINDS, async (kind) => {
      const local = kind.startsWith("local");
      const exchange = NAMES.find((name) => kind.endsWith(`, ${name}`)) ?? SHORT;
      const times: number[] = [];
      for (let message = 0; message < messages; message++) {
        await (local ? west : east).gateway.call("pooledKib", undefined);
        times.push(await roundTrip(connected, local ? "bob" : "east/eve", EXCHANGES[exchange]));
      }
      return times;
    });
    connected.close();
    await Promise.all([west, east].map(({ gateway }) => gateway.call("stop", undefined)));
    return NAMES.flatMap((name) => rowsOf(name, taken));
  } finally {
    client?.close();
    await Promise.all([west, east].map(({ gateway }) => gateway.end()));
    for (const { home } of [west, east]) removeHome(home);
  }
};

function rowsOf(name: ExchangeName, taken: Readonly<Record<Kind, readonly (readonly number[])[]>>): Row[] {
  const row = (kind: Kind, at: number, baseline?: Kind): Row =>
    makeRow({
      metric: `${kind}, warm: send to reply stored, p${String(at * 100)}`,
      unit: "ms",
      values: taken[kind].map((times) => quantile(times, at)),
      ...(baseline === undefined
        ? {}
        : { baseline: { name: baseline, values: taken[baseline].map((times) => quantile(times, at)) } }),
    });
  const [local, peer] = [`local message, ${name}`, `peer message, ${name}`] as const;
  return ([0.5, 0.99] as const).flatMap((at) => [
    ...(name === SHORT
      ? [row(local, at)]
      : [row(local, at, `local message, ${SHORT}`), row(peer, at, `peer message, ${SHORT}`)]),
    row(peer, at, local),
  ]);
}

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
async function roundTrip(client: Client, target: string, { body, replyBytes }: Exchange): Promise<number> {
  keys += 1;
  const began = performance.now();
  const { delivery } = await unaryCall(client, DirectMessageServiceService.sendDirectMessage, {
    requestId: `bench-${String(keys)}`,
    target,
    body,
    inReplyTo: "",
    onBehalfOf: "",
    trace: undefined,
  });
  const deliveryId = delivery?.deliveryId ?? "";
  let last: Delivery | undefined;
  const watched = { deliveryId, cursor: undefined };
  const limit = { timeoutMs: LIMIT_MS };
  for await (const step of readStream(client, DirectMessageServiceService.watchDelivery, watched, limit)) {
    last = step.delivery ?? last;
  }
  const took = performance.now() - began;
  const bytes = Buffer.byteLength(last?.reply?.text ?? "");
  if (last?.state !== DeliveryState.DELIVERY_STATE_REPLIED || bytes !== replyBytes) {
    throw new Error(`the message to ${target} ended as ${String(last?.state)}, with ${String(bytes)} bytes of reply`);
  }
  return took;
}
