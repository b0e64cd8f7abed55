import type { WaitingMessage } from "../../../store/deliveries/outboundDeliveries.js";

/** Messages of one batch: some 20 ms of the receiver's loop, which is held for a batch. */
export const SENT_ITEMS = 192;
/** Messages of one lane in a batch, where there are many lanes. */
const LANE_ITEMS = 16;
/** Waiting messages from which on a batch is worth its stream; fewer go one by one. */
const BATCH_FROM = 8;
/** Bodies of one batch, bytes of UTF-8: far from the message limit with everything around them. */
const BATCH_BYTES = 2 * 1024 * 1024;
/** Calls with one message that are on their way at once. */
const SINGLES = 32;
/** Size from which on a body counts as large, bytes of UTF-8. */
const LARGE_BYTES = 8 * 1024;
/** Calls with a large body that are on their way at once: more of them only queue in the connection, before everything else. */
const LARGE_SINGLES = 4;
/** Batches that are on their way at once: one is stored there, the next waits there already, and the answer to a third is recorded here. */
export const BATCHES = 3;

/** What is on its way already. */
export interface UnderWay {
  /** Calls with one message. */
  readonly singles: number;
  /** Those of them with a large body. */
  readonly large: number;
  /** Batches. */
  readonly batches: number;
}

/** What is to be sent next. */
export type SendPlan =
  | { readonly kind: "singles"; readonly deliveries: readonly WaitingMessage[] }
  | { readonly kind: "batch"; readonly deliveries: readonly WaitingMessage[] }
  | { readonly kind: "wait" };

/**
 * Decides how what waits is sent: a few messages in calls of their own, a backlog in batches. Pure.
 * @param lanes what waits for each recipient of which nothing is on its way, in its order and due
 * @param now epoch milliseconds; what has expired goes alone, to be settled
 */
export function planSends(lanes: readonly (readonly WaitingMessage[])[], underWay: UnderWay, now: number): SendPlan {
  const fresh = lanes.map((lane) => untilExpired(lane, now));
  const waiting = fresh.reduce((sum, lane) => sum + lane.length, 0);
  if (waiting >= BATCH_FROM) {
    return underWay.batches < BATCHES ? { kind: "batch", deliveries: fillBatch(fresh) } : { kind: "wait" };
  }
  let { singles, large } = underWay;
  const deliveries: WaitingMessage[] = [];
  for (const [head] of lanes) {
    if (head === undefined || singles >= SINGLES) continue;
    if (isLarge(head)) {
      if (large >= LARGE_SINGLES) continue;
      large += 1;
    }
    singles += 1;
    deliveries.push(head);
  }
  return deliveries.length === 0 ? { kind: "wait" } : { kind: "singles", deliveries };
}

/**
 * The lanes that are looked at for what is sent next. Where there are many, a part of them for each batch that may still be on its
 * way: while one is, its lanes wait, and with all of them in it the next would have nothing to hold. Pure.
 * @param due lanes that nothing is on its way to, in order
 */
export function lanesOfNext<Lane>(due: readonly Lane[], { batches }: Pick<UnderWay, "batches">): readonly Lane[] {
  // A part with fewer lanes than that might not be sent as a batch.
  const parts = Math.max(1, Math.min(BATCHES - batches, Math.floor(due.length / BATCH_FROM)));
  return due.slice(0, Math.min(Math.ceil(due.length / parts), SENT_ITEMS));
}

/**
 * How many messages of the next lane a batch takes at most. A lane's messages are stored together at the other end, with what is
 * looked up there once for each recipient, so a batch holds long pieces of few lanes; with few lanes, all of its room. Pure.
 * @param left room in the batch, at least 1. @param lanes lanes that are still to come, this one included
 */
export function laneShare(left: number, lanes: number): number {
  return Math.min(left, Math.max(LANE_ITEMS, Math.ceil(left / lanes)));
}

/** Whether a message counts as large. */
export function isLarge({ body = "" }: Pick<WaitingMessage, "body">): boolean {
  return Buffer.byteLength(body, "utf8") >= LARGE_BYTES;
}

function untilExpired(lane: readonly WaitingMessage[], now: number): readonly WaitingMessage[] {
  const end = lane.findIndex(({ expiresAt }) => now > expiresAt);
  return end < 0 ? lane : lane.slice(0, end);
}

/** Takes from each lane in turn, so that none waits for the end of another; a lane that does not fit is left at that point. */
function fillBatch(lanes: readonly (readonly WaitingMessage[])[]): readonly WaitingMessage[] {
  const batch: WaitingMessage[] = [];
  let bytes = 0;
  for (let place = 0; batch.length < SENT_ITEMS; place++) {
    let any = false;
    for (const lane of lanes) {
      const delivery = lane[place];
      if (delivery === undefined || batch.length === SENT_ITEMS) continue;
      bytes += Buffer.byteLength(delivery.body ?? "", "utf8");
      if (bytes > BATCH_BYTES && batch.length > 0) return batch;
      batch.push(delivery);
      any = true;
    }
    if (!any) break;
  }
  return batch;
}
