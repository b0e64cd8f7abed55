import type { WatchDeliveryResponse } from "../../gen/talaria/dm/v1/direct_message_service.js";
import type { Cursor } from "../../gen/talaria/types/v1/cursor.js";
import { reasonError } from "../../rpc/rpcError.js";
import { isEnded } from "../../store/deliveries/deliveryState.js";
import { lanePosition, readDelivery } from "../../store/deliveries/readDelivery.js";
import type { StoredDelivery } from "../../store/deliveries/storedDelivery.js";
import type { Queryable } from "../../store/sql.js";
import { drainingRefusal } from "../admission/drainingRefusal.js";
import { createChangeSignal } from "../changeSignal.js";
import type { DeliveryHub } from "../deliveryHub.js";
import { toDelivery } from "../wire/deliveryWire.js";

/** What a watch needs. */
export interface WatchOptions {
  readonly reader: Queryable;
  readonly hub: DeliveryHub;
  readonly deliveryId: string;
  /** Where an earlier watch stood; its sequence is the delivery's number of changes, which outlives restarts. */
  readonly cursor: Cursor | undefined;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** Ends the watch with DRAINING. */
  readonly draining: AbortSignal;
}

/**
 * The delivery as it is, then each change, until its end. Only the latest state is kept: a watch that resumes after
 * several changes gets a gap and that state.
 * @throws RpcError UNKNOWN_DELIVERY, DRAINING.
 */
export async function* watchDelivery(options: WatchOptions): AsyncGenerator<WatchDeliveryResponse> {
  const { reader, hub, deliveryId, signal, draining } = options;
  const changes = createChangeSignal();
  const raise = (): void => {
    changes.raise();
  };
  const stops = [hub.onDelivery(deliveryId, raise), onAbort(signal, raise), onAbort(draining, raise)];
  try {
    let seen = options.cursor === undefined ? 0 : Number(options.cursor.sequence);
    let resuming = options.cursor;
    for (;;) {
      const delivery = readDelivery(reader, deliveryId);
      if (delivery === undefined) throw reasonError("UNKNOWN_DELIVERY");
      if (delivery.revision !== seen) {
        yield stepOf(delivery, lanePosition(reader, delivery), resuming);
        seen = delivery.revision;
      }
      resuming = undefined;
      if (isEnded(delivery.state)) return;
      await changes.wait();
      if (signal.aborted) return;
      if (draining.aborted) throw drainingRefusal();
    }
  } finally {
    for (const stop of stops) stop();
  }
}

function stepOf(delivery: StoredDelivery, position: number, resumed: Cursor | undefined): WatchDeliveryResponse {
  const sequence = BigInt(delivery.revision);
  const cursor: Cursor = { epoch: 0n, sequence };
  const missed = resumed !== undefined && resumed.sequence + 1n !== sequence;
  return {
    cursor,
    delivery: toDelivery(delivery, position),
    gap: missed ? { requested: resumed, oldestKept: cursor } : undefined,
  };
}

function onAbort(signal: AbortSignal, run: () => void): () => void {
  signal.addEventListener("abort", run, { once: true });
  return () => {
    signal.removeEventListener("abort", run);
  };
}
