import type { Receipt } from "../../../gen/talaria/dm/v1/peer_service.js";
import { applyReceipts, type StoredReceipt } from "../../../store/deliveries/applyReceipts.js";
import { readDestination } from "../../../store/deliveries/destinations.js";
import { readDelivery } from "../../../store/deliveries/readDelivery.js";
import { claimedBy } from "../../../store/deliveries/outboundDeliveries.js";
import { fromReceipt } from "../../wire/receiptWire.js";
import type { RelaySession } from "./relaySession.js";

/** Accepted messages that are asked about at a time. */
const ASKED = 256;

/** Stores receipts of a connector in one transaction. @returns those whose state is known here */
export async function applyConnectorReceipts(
  session: Pick<RelaySession, "connector" | "context" | "leases" | "asked" | "kick">,
  receipts: readonly Receipt[],
): Promise<readonly StoredReceipt[]> {
  const { connector } = session;
  const { store, clock, afterCommit } = session.context;
  const now = clock.now();
  const known = receipts.flatMap((receipt) => fromReceipt(receipt, connector, now) ?? []);
  afterCommit(await store.writer.execute(applyReceipts, { gateway: connector, receipts: known, now }));
  for (const { deliveryId } of known) {
    // One of an earlier attempt epoch says nothing about the lease.
    if (readDelivery(store.reader, deliveryId)?.state === "queued") continue;
    session.leases.end(deliveryId);
    session.asked.delete(deliveryId);
  }
  session.kick();
  return known;
}

/**
 * Remembers which store the connector's gateway has. Where that is another one than before, it may have forgotten what it
 * accepted: yields every message that it was to answer.
 */
export async function* claimedAfterStoreChange(
  { connector, context }: Pick<RelaySession, "connector" | "context">,
  storeId: string,
): AsyncGenerator<string> {
  const { store, clock } = context;
  const known = readDestination(store.reader, connector).storeId;
  if (known !== "" && known !== storeId) {
    let after = 0;
    for (;;) {
      const claimed = claimedBy(store.reader, connector, after, ASKED);
      for (const { deliveryId } of claimed) yield deliveryId;
      const last = claimed.at(-1);
      if (last === undefined) break;
      after = last.sequence;
    }
  }
  if (known === storeId) return;
  const place = { gateway: connector, receipts: [], cursor: 0, storeId, now: clock.now() };
  await store.writer.execute(applyReceipts, place);
}
