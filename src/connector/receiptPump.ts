import { createDeferred, type Deferred } from "../base/deferred.js";
import type { Receipt } from "../gen/talaria/dm/v1/peer_service.js";
import type { GatewayInfo } from "../gen/talaria/dm/v1/roster.js";
import type { LocalGateway } from "./localGateway.js";
import type { PlaceFile } from "./placeFile.js";

/** Frames of receipts that may wait for their confirmation. */
const UNCONFIRMED = 32;

interface SentStep {
  readonly keys: Set<string>;
  readonly sequence: number;
}

/** Sends the receipts of this machine's gateway up until the far side has stored them, over one connection. */
export class ReceiptPump {
  readonly #local: LocalGateway;
  readonly #place: PlaceFile;
  readonly #sent: SentStep[] = [];
  #room: Deferred<void> | undefined;

  constructor(local: LocalGateway, place: PlaceFile) {
    this.#local = local;
    this.#place = place;
  }

  /**
   * Watches until the watch ends. Begins after the last place that was confirmed; of another store on either side, at the start of it.
   * @param hub who asks
   * @throws RpcError why the watch ended
   */
  async run(hub: GatewayInfo, send: (receipts: Receipt[]) => Promise<void>, signal: AbortSignal): Promise<void> {
    this.#sent.length = 0;
    const { storeId, hubStoreId } = this.#place.read();
    const hubStore = hub.storeId.slice(0, 64);
    // Another store there, as after it was restored, has forgotten what it confirmed.
    if (hubStore !== hubStoreId)
      this.#place.write({ hubStoreId: hubStore, ...(hubStoreId === "" ? {} : { sequence: 0 }) });
    const { sequence } = this.#place.read();
    for await (const { update, cursor } of this.#local.watch(hub, sequence, signal)) {
      if (update?.$case === "info") {
        if (update.value.storeId === storeId) continue;
        this.#place.write({ storeId: update.value.storeId, sequence: 0 });
        // The place that was sent counts in another store: watch again from the start of this one.
        if (sequence > 0) return;
      } else if (update?.$case === "receipts") {
        const { receipts } = update.value;
        this.#sent.push({ keys: new Set(receipts.map(({ key }) => key)), sequence: Number(cursor?.sequence ?? 0n) });
        await send(receipts);
        await this.#untilRoom(signal);
      }
    }
  }

  /** Takes a confirmation: what is confirmed in order need not be sent again. */
  confirm(keys: readonly string[]): void {
    // Each frame is confirmed by itself, in order; a key may stand in several.
    const step = this.#sent.find((one) => keys.every((key) => one.keys.has(key)));
    for (const key of keys) step?.keys.delete(key);
    let last: number | undefined;
    while (this.#sent[0]?.keys.size === 0) last = this.#sent.shift()?.sequence;
    if (last !== undefined) this.#place.write({ sequence: last });
    if (this.#sent.length < UNCONFIRMED) this.#room?.resolve();
  }

  async #untilRoom(signal: AbortSignal): Promise<void> {
    if (this.#sent.length < UNCONFIRMED || signal.aborted) return;
    const room = createDeferred<void>();
    this.#room = room;
    const stop = (): void => {
      room.resolve();
    };
    signal.addEventListener("abort", stop, { once: true });
    await room.promise;
    signal.removeEventListener("abort", stop);
  }
}
