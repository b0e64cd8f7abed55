import type { WatchReceiptsResponse } from "../../gen/talaria/dm/v1/peer_service.js";
import type { GatewayInfo } from "../../gen/talaria/dm/v1/roster.js";
import { lanePosition } from "../../store/deliveries/readDelivery.js";
import { lastReceiptPlace } from "../../store/deliveries/relayQueries.js";
import { receiptsAfter } from "../../store/deliveries/receiptsAfter.js";
import type { Queryable } from "../../store/sql.js";
import { drainingRefusal } from "../admission/drainingRefusal.js";
import { createChangeSignal } from "../changeSignal.js";
import { toReceipt } from "../wire/receiptWire.js";
import type { ReceiptChanges } from "./receiptChanges.js";

/** Receipts of one step: with replies of 18,000 code points each, a step stays under the message limit. */
const RECEIPTS_PER_STEP = 32;

/** What a watch of receipts needs. */
export interface WatchReceiptsOptions {
  readonly reader: Queryable;
  readonly receipts: ReceiptChanges;
  /** Principal scope of the peer that watches. */
  readonly scope: string;
  /** Who answers. */
  readonly info: GatewayInfo;
  /** Last place that the peer has stored; 0 for none. One that was never given here is answered with a gap. */
  readonly after: bigint;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** Ends the watch with DRAINING. */
  readonly draining: AbortSignal;
}

/**
 * This gateway's info, then the receipts after a place, then each change. Places outlive restarts, so their epoch is 0. A place beyond
 * the last one is of a later state of this store than it has, as after its disk was set back: a gap, then everything there is.
 */
export async function* watchReceipts(options: WatchReceiptsOptions): AsyncGenerator<WatchReceiptsResponse> {
  const { reader, scope, info, signal, draining } = options;
  const changes = createChangeSignal();
  const raise = (): void => {
    changes.raise();
  };
  const stop = options.receipts.onScope(scope, raise);
  signal.addEventListener("abort", raise, { once: true });
  draining.addEventListener("abort", raise, { once: true });
  try {
    const known = options.after <= BigInt(lastReceiptPlace(reader));
    let after = known ? Number(options.after) : 0;
    yield step(after, { $case: "info", value: info });
    if (!known) {
      const requested = { epoch: 0n, sequence: options.after };
      yield step(0, { $case: "gap", value: { requested, oldestKept: { epoch: 0n, sequence: 0n } } });
    }
    while (!signal.aborted) {
      if (draining.aborted) throw drainingRefusal();
      const changed = receiptsAfter(reader, scope, after, RECEIPTS_PER_STEP);
      const last = changed.at(-1)?.receiptSequence;
      if (last === undefined) {
        await changes.wait();
        continue;
      }
      const receipts = changed.map((delivery) => toReceipt(delivery, lanePosition(reader, delivery)));
      after = last;
      yield step(after, { $case: "receipts", value: { receipts } });
    }
  } finally {
    stop();
    signal.removeEventListener("abort", raise);
    draining.removeEventListener("abort", raise);
  }
}

function step(place: number, update: NonNullable<WatchReceiptsResponse["update"]>): WatchReceiptsResponse {
  return { cursor: { epoch: 0n, sequence: BigInt(place) }, update };
}
