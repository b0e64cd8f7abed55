import type { Client } from "@grpc/grpc-js";
import { createHash } from "node:crypto";
import { systemClock } from "../../src/base/clock.js";
import type { Delivery } from "../../src/gen/talaria/dm/v1/delivery.js";
import {
  DirectMessageServiceService,
  type SendDirectMessageRequest,
  type WatchDeliveryResponse,
} from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import type { DeliverDMRequest, Envelope } from "../../src/gen/talaria/dm/v1/peer_service.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { toTimestamp } from "../../src/rpc/wire/times.js";
import { DeliveryState } from "../../src/gen/talaria/dm/v1/delivery.js";

let keys = 0;

/** Sends a message as a client. */
export async function send(client: Client, message: Partial<SendDirectMessageRequest>) {
  keys += 1;
  const response = await unaryCall(client, DirectMessageServiceService.sendDirectMessage, {
    requestId: `key-${String(keys)}`,
    target: "bob",
    body: "hello",
    inReplyTo: "",
    onBehalfOf: "",
    trace: undefined,
    ...message,
  });
  if (response.delivery === undefined) throw new Error("no delivery");
  return { delivery: response.delivery, replayed: response.replayed };
}

/** Reads a delivery as a client. */
export async function get(client: Client, deliveryId: string): Promise<Delivery> {
  const { delivery } = await unaryCall(client, DirectMessageServiceService.getDelivery, { deliveryId });
  if (delivery === undefined) throw new Error("no delivery");
  return delivery;
}

/** Watches a delivery to its end. @returns every step */
export async function watchToEnd(client: Client, deliveryId: string): Promise<WatchDeliveryResponse[]> {
  const steps: WatchDeliveryResponse[] = [];
  const stream = readStream(
    client,
    DirectMessageServiceService.watchDelivery,
    { deliveryId, cursor: undefined },
    { timeoutMs: 15_000 },
  );
  for await (const step of stream) steps.push(step);
  return steps;
}

/** The delivery after its end. */
export async function ended(client: Client, deliveryId: string): Promise<Delivery> {
  const last = (await watchToEnd(client, deliveryId)).at(-1)?.delivery;
  if (last === undefined) throw new Error("the watch was empty");
  return last;
}

/** A request of `DeliverDM` as a peer would make it. */
export function deliverRequest(requestId: string, more: Partial<Envelope> = {}): DeliverDMRequest {
  const body = more.body ?? "hello";
  return {
    requestId,
    envelope: {
      senderAgent: "carol",
      senderTitle: "Carol",
      recipientAgent: "bob",
      body,
      bodySha256: createHash("sha256").update(body, "utf8").digest(),
      inReplyTo: "",
      depth: 1,
      expiresAt: toTimestamp(systemClock.now() + 60_000),
      attemptEpoch: 1,
      attempt: 1,
      trace: undefined,
      hops: [],
      sentAt: undefined,
      ...more,
    },
  };
}

/** Name of a state without its prefix. */
export function stateName(delivery: { readonly state: DeliveryState }): string {
  const [name = "?"] = Object.entries(DeliveryState).find(([, number]) => number === delivery.state) ?? [];
  return name.replace("DELIVERY_STATE_", "");
}

/** What a call is refused with. @throws Error where it is not refused */
export async function refusal(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (caught) {
    return caught;
  }
  throw new Error("the call was not refused");
}
