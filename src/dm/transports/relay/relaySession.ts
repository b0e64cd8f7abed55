import { createDeferred, type Deferred } from "../../../base/deferred.js";
import type { ConnectRequest, RelayCancelAnswer, RelayHello } from "../../../gen/talaria/dm/v1/relay_service.js";
import type { GatewayInfo } from "../../../gen/talaria/dm/v1/roster.js";
import { RpcError } from "../../../rpc/rpcError.js";
import { toTimestamp } from "../../../rpc/wire/times.js";
import { lanePosition } from "../../../store/deliveries/readDelivery.js";
import { receiptsAfter } from "../../../store/deliveries/receiptsAfter.js";
import { leaseToConnector, withdrawFromConnector } from "../../../store/deliveries/relayCommands.js";
import { handedOutTo, lastReceiptPlace, relayLaneHeads } from "../../../store/deliveries/relayQueries.js";
import type { StoredDelivery } from "../../../store/deliveries/storedDelivery.js";
import { waitLeft } from "../../../store/deliveries/waitLeft.js";
import { displayText } from "../../admission/displayText.js";
import { remoteScope } from "../../admission/sender.js";
import { createChangeSignal } from "../../changeSignal.js";
import { deliveryPlace } from "../../trace/deliveryTrace.js";
import { toReceipt } from "../../wire/receiptWire.js";
import type { FarCancellation } from "../transport.js";
import { LeaseBook } from "./leaseBook.js";
import { closeFrame, faultEnd, slowConsumerEnd, type RelayEnd } from "./relayClose.js";
import type { RelayContext, RelayFrame, RelayStream } from "./relayContext.js";
import { relayEnvelope } from "./relayEnvelope.js";
import { handleFrame } from "./relayFrames.js";
import { applyConnectorReceipts, claimedAfterStoreChange } from "./relayReceipts.js";

/** Messages handed to one connector and not accepted yet, each of another recipient. */
const IN_FLIGHT = 64;
/** Messages of one lease: with bodies of 16,000 code points a frame stays under the message limit. */
const LEASE_ITEMS = 16;
/** Longest name and version that a connector may give itself, code points. */
const SAID = 64;
/** Lanes that are looked at. */
const LANES = 512;
/** Receipts of one frame: with replies of 18,000 code points a frame stays under the message limit. */
const RECEIPTS_PER_FRAME = 32;

/** Lease numbers rise beyond those of every earlier start, so that an answer to an old lease never fits a later one. */
let lastLeaseId = 0n;

/**
 * One connection of one connector, from its welcome to its end. What matters is stored before it is sent and after it was
 * received, so a connection may end at any point and another one go on.
 */
export class RelaySession {
  readonly connector: string;
  /** Number of the connection, as the connector gave it. */
  readonly epoch: bigint;
  /** What the connector said of itself. */
  readonly info: GatewayInfo | undefined;
  readonly context: RelayContext;
  readonly leases: LeaseBook;
  /** Messages of which the connector was asked what became of them. */
  readonly asked = new Set<string>();
  readonly #stream: RelayStream;
  readonly #storeId: string;
  readonly #work = createChangeSignal();
  readonly #changes = createChangeSignal();
  readonly #closing = createDeferred<RelayEnd>();
  /** Resolves when the connection is over; what still runs ends then. */
  readonly #stopped = createDeferred<void>();
  readonly #ended = createDeferred<void>();
  readonly #cancels = new Map<string, Deferred<RelayCancelAnswer | undefined>>();
  #handling: Promise<void> = Promise.resolve();
  #over = false;
  #heardAt: number;

  constructor(context: RelayContext, connector: string, hello: RelayHello, stream: RelayStream) {
    this.context = context;
    this.connector = connector;
    this.epoch = hello.connectionEpoch;
    this.leases = new LeaseBook({ leaseMs: context.budgets.relayLeaseMs });
    this.info = hello.info && {
      ...hello.info,
      name: displayText(hello.info.name, SAID),
      version: displayText(hello.info.version, SAID),
    };
    this.#storeId = hello.info?.storeId.slice(0, 64) ?? "";
    this.#stream = stream;
    this.#heardAt = context.clock.monotonic();
  }

  /** When the connector was last heard, epoch milliseconds. */
  get seenAt(): number {
    const { clock } = this.context;
    return clock.now() - (clock.monotonic() - this.#heardAt);
  }

  /** Resolves when the connection is over and nothing of it runs any more. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Says that a message waits, or that one has left its lane. */
  kick(): void {
    this.#work.raise();
  }

  /** Ends the connection, saying why. */
  close(end: RelayEnd): void {
    this.#closing.resolve(end);
  }

  /** Runs the connection. @throws RpcError why it was ended by this side */
  async run(requests: AsyncIterator<ConnectRequest>): Promise<void> {
    const { hub, log } = this.context;
    const stopWatching = hub.onAny(() => {
      this.#changes.raise();
    });
    const stopSilence = this.#watchSilence();
    const incoming = this.#receive(requests);
    const outgoing = [this.#settleDoubts().then(() => this.#leaseLoop()), this.#receiptLoop()];
    let end: RelayEnd | undefined;
    try {
      end = await Promise.race([this.#closing.promise, incoming, ...outgoing]);
    } catch (caught) {
      const error = RpcError.from(caught);
      end = faultEnd(error);
    } finally {
      this.#over = true;
      this.#stopped.resolve();
      stopWatching();
      stopSilence();
      this.#work.raise();
      this.#changes.raise();
      for (const waiting of this.#cancels.values()) waiting.resolve(undefined);
    }
    if (end !== undefined) this.#sayWhy(end);
    await Promise.allSettled([...outgoing, this.#handling]);
    incoming.catch(() => undefined);
    this.#ended.resolve();
    log.info({ connector: this.connector, reason: end?.error.reason ?? "closed by the connector" }, "connector gone");
    if (end !== undefined) throw end.error;
  }

  /** Sends a frame and waits while the connector is behind; one that stays behind is cut off. */
  async send(frame: RelayFrame): Promise<void> {
    this.#checkNotOver();
    if (this.#stream.sendNow({ frame })) return;
    // Sooner than silence: while this side waits, it reads no sign of life either.
    const cancel = this.context.clock.after(this.context.budgets.heartbeatMissedMs / 2, () => {
      this.close(slowConsumerEnd());
    });
    try {
      await Promise.race([this.#stream.drained(), this.#stopped.promise]);
    } finally {
      cancel();
    }
    this.#checkNotOver();
  }

  /** Asks what became of a message that was handed out. */
  async ask(key: string): Promise<void> {
    this.asked.add(key);
    await this.send({ $case: "ask", value: { key } });
  }

  /** Asks to withdraw a message, and stores what the connector answers. */
  async cancel({ deliveryId: key }: StoredDelivery): Promise<FarCancellation> {
    const { clock, budgets, store, afterCommit } = this.context;
    const waiting = this.#cancels.get(key) ?? createDeferred<RelayCancelAnswer | undefined>();
    this.#cancels.set(key, waiting);
    const stop = clock.after(budgets.unaryDeadlineMs / 2, () => {
      waiting.resolve(undefined);
    });
    try {
      await this.send({ $case: "cancel", value: { key } });
      const answer = await waiting.promise;
      if (answer === undefined) return "pending";
      if (answer.failure !== undefined) return "started";
      if (answer.receipt !== undefined) {
        const [receipt] = await applyConnectorReceipts(this, [answer.receipt]);
        return receipt?.state === "cancelled" ? "cancelled" : "started";
      }
      this.leases.end(key);
      const { connector } = this;
      const effects = await store.writer.execute(withdrawFromConnector, {
        connector,
        deliveryId: key,
        now: clock.now(),
      });
      afterCommit(effects);
      this.kick();
      return effects.changed.length > 0 ? "cancelled" : "pending";
    } finally {
      stop();
      this.#cancels.delete(key);
    }
  }

  /** Takes the answer to {@link RelaySession.cancel}. */
  onCancelAnswer(answer: RelayCancelAnswer): void {
    this.#cancels.get(answer.key)?.resolve(answer);
  }

  async #receive(requests: AsyncIterator<ConnectRequest>): Promise<undefined> {
    for (;;) {
      const next = await requests.next();
      if (next.done === true || this.#over) return undefined;
      this.#heardAt = this.context.clock.monotonic();
      this.context.rosters.heard(this.connector);
      this.#handling = handleFrame(this, next.value.frame);
      await this.#handling;
    }
  }

  /** Asks for everything that an earlier connection left in doubt; of another store, for everything that it had accepted. */
  async #settleDoubts(): Promise<void> {
    const { store } = this.context;
    for (const { deliveryId } of handedOutTo(store.reader, this.connector)) await this.ask(deliveryId);
    for await (const deliveryId of claimedAfterStoreChange(this, this.#storeId)) await this.ask(deliveryId);
  }

  async #leaseLoop(): Promise<never> {
    const { store, clock, budgets } = this.context;
    for (;;) {
      for (const deliveryId of this.leases.takeLapsed(clock.monotonic())) await this.ask(deliveryId);
      const now = clock.now();
      const waiting = relayLaneHeads(store.reader, this.connector, LANES);
      const leftOf = ({ nextAttemptAt }: StoredDelivery): number =>
        waitLeft(nextAttemptAt, now, budgets.peerRetryMaxMs);
      const ready = waiting.filter((delivery) => leftOf(delivery) === 0 && delivery.expiresAt >= now);
      const room = Math.max(0, IN_FLIGHT - this.leases.size);
      await this.#lease(ready.slice(0, room).map(({ deliveryId }) => deliveryId));
      const later = waiting.map(leftOf).filter((left) => left > 0);
      const lapse = this.leases.nextLapse();
      if (lapse !== undefined) later.push(lapse - clock.monotonic());
      const cancel = later.length === 0 ? undefined : clock.after(Math.min(...later), () => this.#work.raise());
      await this.#work.wait();
      cancel?.();
      if (this.#over) throw new RpcError("CANCELLED");
    }
  }

  async #lease(deliveryIds: readonly string[]): Promise<void> {
    const { store, clock, hub, budgets, tracer } = this.context;
    const { connector } = this;
    for (let start = 0; start < deliveryIds.length; start += LEASE_ITEMS) {
      const now = clock.now();
      const some = deliveryIds.slice(start, start + LEASE_ITEMS);
      const leased = await store.writer.execute(leaseToConnector, { connector, deliveryIds: some, now });
      if (leased.length === 0) continue;
      hub.notify(leased.map(({ deliveryId }) => deliveryId));
      const fresh = BigInt(now) * 1_000n;
      lastLeaseId = lastLeaseId >= fresh ? lastLeaseId + 1n : fresh;
      const leaseId = lastLeaseId;
      const items = leased.flatMap((delivery) => {
        const item = relayEnvelope(store.reader, delivery, now, deliveryPlace(tracer, delivery));
        if (item === undefined) throw new Error(`delivery ${delivery.deliveryId} waits without a body`);
        this.leases.grant(delivery.deliveryId, leaseId, clock.monotonic(), delivery.expiresAt - now);
        return [item];
      });
      const expiresAt = toTimestamp(now + budgets.relayLeaseMs);
      await this.send({ $case: "lease", value: { leaseId, expiresAt, items } });
    }
  }

  /** Sends what becomes of the connector's own messages from here on; what changed before, it asks for. */
  async #receiptLoop(): Promise<never> {
    const { reader } = this.context.store;
    const scope = remoteScope(this.connector, true);
    let after = lastReceiptPlace(reader);
    for (;;) {
      const changed = receiptsAfter(reader, scope, after, RECEIPTS_PER_FRAME);
      const last = changed.at(-1)?.receiptSequence;
      if (last === undefined) await this.#changes.wait();
      else {
        const receipts = changed.map((delivery) => toReceipt(delivery, lanePosition(reader, delivery)));
        await this.send({ $case: "receipts", value: { receipts } });
        after = last;
      }
      if (this.#over) throw new RpcError("CANCELLED");
    }
  }

  #watchSilence(): () => void {
    const { clock, budgets } = this.context;
    let cancel: () => void = () => undefined;
    const arm = (): void => {
      const left = this.#heardAt + budgets.heartbeatMissedMs - clock.monotonic();
      if (left > 0) cancel = clock.after(left, arm);
      else {
        const message = `The connector has been silent for ${String(budgets.heartbeatMissedMs)} ms.`;
        this.close(faultEnd(new RpcError("UNAVAILABLE", { message }), true));
      }
    };
    arm();
    return () => {
      cancel();
    };
  }

  #checkNotOver(): void {
    if (this.#over) throw new RpcError("CANCELLED", { message: "The connection is over." });
  }

  /** Best effort: a connector that does not read will not hear it. */
  #sayWhy(end: RelayEnd): void {
    try {
      this.#stream.sendNow({ frame: closeFrame(end) });
    } catch {
      return;
    }
  }
}
