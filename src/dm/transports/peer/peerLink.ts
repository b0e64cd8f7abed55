import type { GatewayInfo } from "../../../gen/talaria/dm/v1/roster.js";
import { PeerServiceService, type WatchReceiptsResponse } from "../../../gen/talaria/dm/v1/peer_service.js";
import { readStream } from "../../../rpc/clients/readStream.js";
import { RpcError } from "../../../rpc/rpcError.js";
import { applyReceipts } from "../../../store/deliveries/applyReceipts.js";
import {
  doubtOutbound,
  endFarDelivery,
  recordDestinationFailure,
  recordReachable,
} from "../../../store/deliveries/attemptCommands.js";
import { readDestination } from "../../../store/deliveries/destinations.js";
import { claimedBy } from "../../../store/deliveries/outboundDeliveries.js";
import { waitLeft } from "../../../store/deliveries/waitLeft.js";
import { gatewayInfo, whyUnfit } from "../../gatewayInfo.js";
import { backoffMs } from "../../retryPolicy.js";
import { failureOf } from "../../../rpc/wire/failure.js";
import { fromReceipt } from "../../wire/receiptWire.js";
import type { PeerConnection, PeerContext } from "./peerContext.js";
import { followRoster } from "./followRoster.js";
import { LaneSender } from "./laneSender.js";
import { pause } from "../../../base/pause.js";
import { askPeer } from "./peerSender.js";
import type { PeerWay } from "./peerWay.js";

/** Claimed messages that are asked about at a time. */
const ASKED = 256;
/** How long a peer may take to say who it is: a stopped process accepts connections and then says nothing. */
const GREETING_MS = 10_000;

/**
 * The way to one peer. While the peer's receipts can be watched, messages are sent: one at a time for each recipient, in the
 * order of its lane. Everything that matters is stored, so a link may end at any point and another one go on.
 */
export class PeerLink {
  readonly #context: PeerContext;
  readonly #gateway: string;
  readonly #stop = new AbortController();
  readonly #sender: LaneSender;
  #info: GatewayInfo | undefined;
  #seenAt: number | undefined;
  #endPause: () => void = () => undefined;
  #connection: PeerConnection | undefined;
  #running: Promise<unknown> = Promise.resolve();

  constructor(context: PeerContext, gateway: string) {
    this.#context = context;
    this.#gateway = gateway;
    this.#sender = new LaneSender(context, gateway, this.#stop.signal);
  }

  /** The open way to the peer; undefined while there is none. */
  get connection(): PeerConnection | undefined {
    return this.#sender.connected ? this.#connection : undefined;
  }

  /** Starts to move what waits. */
  async start(): Promise<void> {
    const { store } = this.#context;
    await store.writer.execute(doubtOutbound, { gateway: this.#gateway });
    this.#running = Promise.all([this.#guarded(() => this.#receiveLoop()), this.#guarded(() => this.#sender.run())]);
  }

  /** Says that a message waits. */
  kick(): void {
    this.#sender.kick();
  }

  /** What is known of the way. */
  get way(): PeerWay {
    return { connected: this.#sender.connected, info: this.#info, seenAt: this.#seenAt };
  }

  /** Says that the destination's hold or breaker was changed from outside. */
  reconsider(): void {
    this.#endPause();
    this.#sender.kick();
  }

  /** See {@link LaneSender.withhold}. */
  withhold(deliveryId: string): (() => void) | undefined {
    return this.#sender.withhold(deliveryId);
  }

  /** Ids of the messages whose attempt is on its way. */
  get inFlight(): readonly string[] {
    return this.#sender.inFlight;
  }

  /** Ends the link. Attempts that are on their way are cut, and counted as undecided. */
  async close(): Promise<void> {
    this.#stop.abort(cut());
    this.#sender.kick();
    await this.#running;
    await this.#sender.disconnect(cut());
    this.#connection?.close();
    this.#connection = undefined;
  }

  async #guarded(loop: () => Promise<void>): Promise<void> {
    try {
      await loop();
    } catch (caught) {
      if (this.#ended()) return;
      this.#context.log.error({ gateway: this.#gateway, err: caught }, "the way to a peer has ended");
    }
  }

  async #receiveLoop(): Promise<void> {
    while (!this.#ended()) {
      await this.#untilDue();
      const peer = this.#context.peers.get(this.#gateway);
      if (peer === undefined || this.#ended()) return;
      let error: RpcError;
      const refused: { why?: RpcError } = {};
      try {
        this.#connection = this.#context.connectPeer(peer, (why) => {
          refused.why = why;
        });
        error = await this.#watchReceipts(this.#connection);
      } catch (caught) {
        error = RpcError.from(caught);
      }
      await this.#sender.disconnect(cut());
      this.#connection?.close();
      this.#connection = undefined;
      if (!this.#ended()) await this.#recordFailure(refused.why ?? error);
    }
  }

  /** Watches until the stream ends. @returns why it ended */
  async #watchReceipts(connection: PeerConnection): Promise<RpcError> {
    const { client } = connection;
    const { store, identity, budgets } = this.#context;
    const { receiptCursor, storeId } = readDestination(store.reader, this.#gateway);
    const caller = gatewayInfo(identity, budgets);
    const cursor = receiptCursor === 0 ? undefined : { epoch: 0n, sequence: BigInt(receiptCursor) };
    const silent = new AbortController();
    const heard = this.#context.clock.after(GREETING_MS, () => silent.abort(new RpcError("CONNECT_TIMEOUT")));
    const signal = AbortSignal.any([this.#stop.signal, silent.signal]);
    const stream = readStream(client, PeerServiceService.watchReceipts, { caller, cursor }, { signal });
    let current = storeId;
    const ended = new AbortController();
    let roster: Promise<void> | undefined;
    try {
      for await (const step of stream) {
        const { update } = step;
        this.#seenAt = this.#context.clock.now();
        if (update?.$case === "info") {
          heard();
          const unfit = whyUnfit(update.value, budgets);
          if (unfit !== undefined) return unfit;
          this.#info = update.value;
          current = update.value.storeId.slice(0, 64);
          await this.#onInfo(connection, current, storeId);
          roster ??= followRoster(this.#context, this.#gateway, connection, ended.signal);
          // The place that was sent counts in another database: watch again from the start of this one.
          if (storeId !== "" && current !== storeId)
            return new RpcError("UNAVAILABLE", { message: "The peer's store is another one." });
        } else if (update?.$case === "receipts") await this.#store(step, current);
        else if (update?.$case === "gap") {
          await this.#askAll(client);
          if (step.cursor !== undefined) await this.#store(step, current);
        }
      }
    } finally {
      heard();
      ended.abort(cut());
      await roster;
    }
    return new RpcError("UNAVAILABLE", { message: "The peer has ended the watch." });
  }

  async #onInfo(connection: PeerConnection, current: string, known: string): Promise<void> {
    const { store, clock } = this.#context;
    const gateway = this.#gateway;
    if (current !== known) {
      // Asked before it is remembered: where this is cut short, the next connection asks.
      if (known !== "") await this.#askAll(connection.client);
      await store.writer.execute(applyReceipts, {
        gateway,
        receipts: [],
        cursor: 0,
        storeId: current,
        now: clock.now(),
      });
    }
    await store.writer.execute(recordReachable, { gateway, now: clock.now() });
    this.#sender.connect(connection);
  }

  async #store({ update, cursor }: WatchReceiptsResponse, storeId: string): Promise<void> {
    const { store, clock, afterCommit } = this.#context;
    const now = clock.now();
    const said = update?.$case === "receipts" ? update.value.receipts : [];
    const receipts = said.flatMap((receipt) => fromReceipt(receipt, this.#gateway, now) ?? []);
    const place = cursor === undefined ? {} : { cursor: Number(cursor.sequence), storeId };
    if (place.cursor !== undefined && !Number.isSafeInteger(place.cursor)) {
      throw new RpcError("MALFORMED_MESSAGE", { message: "The peer counts its receipts beyond any number." });
    }
    afterCommit(await store.writer.execute(applyReceipts, { gateway: this.#gateway, receipts, ...place, now }));
  }

  /** Asks by key for every message that the peer has accepted; one that it does not know any more ends UNKNOWN. */
  async #askAll(client: PeerConnection["client"]): Promise<void> {
    const { store, clock, afterCommit } = this.#context;
    let after = 0;
    for (;;) {
      const claimed = claimedBy(store.reader, this.#gateway, after, ASKED);
      for (const delivery of claimed) {
        if (await askPeer(this.#context, client, delivery, this.#stop.signal)) continue;
        const lost = { deliveryId: delivery.deliveryId, end: "lost", now: clock.now() } as const;
        afterCommit(await store.writer.execute(endFarDelivery, lost));
      }
      const last = claimed.at(-1);
      if (last === undefined) return;
      after = last.sequence;
    }
  }

  async #recordFailure(error: RpcError): Promise<void> {
    const { store, clock, random, budgets, log } = this.#context;
    const gateway = this.#gateway;
    const { failures } = readDestination(store.reader, gateway);
    const now = clock.now();
    const wait = backoffMs({
      failures: failures + 1,
      minMs: budgets.peerRetryMinMs,
      maxMs: budgets.peerRetryMaxMs,
      fraction: random.fraction(),
      ...(error.details.retryAfterMs === undefined ? {} : { retryAfterMs: error.details.retryAfterMs }),
    });
    log.info({ gateway, reason: error.reason, failures: failures + 1, waitMs: wait }, "the peer cannot be reached");
    await store.writer.execute(recordDestinationFailure, {
      gateway,
      error: failureOf(error),
      nextAttemptAt: now + wait,
      now,
    });
  }

  #ended(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Waits until the breaker lets the next attempt through. */
  async #untilDue(): Promise<void> {
    const { store, clock, budgets } = this.#context;
    const { nextAttemptAt } = readDestination(store.reader, this.#gateway);
    await pause(clock, waitLeft(nextAttemptAt, clock.now(), budgets.peerRetryMaxMs), this.#stop.signal, (end) => {
      this.#endPause = end;
    });
  }
}

/** What attempts are cut with: it says nothing of what the peer has kept. */
function cut(): RpcError {
  return new RpcError("CANCELLED", { message: "The way to the peer has ended." });
}
