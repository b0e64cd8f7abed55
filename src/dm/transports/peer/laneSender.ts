import { readDestination } from "../../../store/deliveries/destinations.js";
import { laneHeads, laneOf, type WaitingMessage } from "../../../store/deliveries/outboundDeliveries.js";
import { waitLeft } from "../../../store/deliveries/waitLeft.js";
import type { RpcError } from "../../../rpc/rpcError.js";
import { createChangeSignal } from "../../changeSignal.js";
import { BatchStream } from "./batchStream.js";
import { pause } from "../../../base/pause.js";
import type { PeerConnection, PeerContext } from "./peerContext.js";
import { sendBatch, sendOne } from "./peerSender.js";
import { SENT_ITEMS, BATCHES, isLarge, laneShare, lanesOfNext, planSends, type SendPlan } from "./planSends.js";

/** Lanes that are looked at: those that may go on come first. */
const LANES = 512;

/**
 * Sends what waits for one peer while there is a connection: for each recipient in the order of its lane, what comes next once what
 * is on its way has ended; nothing while the destination is held. Owned by the peer's link.
 */
export class LaneSender {
  readonly #context: PeerContext;
  readonly #gateway: string;
  readonly #stop: AbortSignal;
  readonly #work = createChangeSignal();
  readonly #inFlight = new Map<string, Promise<void>>();
  /** Messages that somebody decides about, by who does. */
  readonly #withheld = new Map<symbol, string>();
  /** Recipients that something is on its way to. */
  readonly #busy = new Set<string>();
  readonly #underWay = { singles: 0, large: 0, batches: 0 };
  #connection: PeerConnection | undefined;
  #connected: AbortController | undefined;
  #batches: BatchStream | undefined;

  /** @param stop ends the sender for good */
  constructor(context: PeerContext, gateway: string, stop: AbortSignal) {
    this.#context = context;
    this.#gateway = gateway;
    this.#stop = stop;
  }

  /** Whether there is a connection to send on. */
  get connected(): boolean {
    return this.#connected !== undefined;
  }

  /** Ids of the messages whose attempt is on its way. */
  get inFlight(): readonly string[] {
    return [...this.#inFlight.keys()];
  }

  /** Lets a message and its lane wait until what is returned is called; undefined where an attempt at it is on its way. */
  withhold(deliveryId: string): (() => void) | undefined {
    if (this.#inFlight.has(deliveryId)) return undefined;
    const token = Symbol(deliveryId);
    this.#withheld.set(token, deliveryId);
    return () => {
      this.#withheld.delete(token);
      this.kick();
    };
  }

  /** Says that there may be something to send, or that the sender shall end. */
  kick(): void {
    this.#work.raise();
  }

  /** Takes a connection to send on. */
  connect(connection: PeerConnection): void {
    this.#connection = connection;
    this.#connected = new AbortController();
    this.kick();
  }

  /** Cuts what is on its way, with an error that says nothing of what the peer has kept; resolves once that is recorded. */
  async disconnect(error: RpcError): Promise<void> {
    this.#connected?.abort(error);
    this.#connected = undefined;
    await Promise.all(this.#inFlight.values());
    this.#connection = undefined;
    this.#endBatches();
  }

  /** Sends what waits until the link ends. */
  async run(): Promise<void> {
    const { clock } = this.#context;
    while (!this.#stop.aborted) {
      const { plan, nextIn } = this.#plan();
      if (plan.kind === "singles") for (const delivery of plan.deliveries) this.#sendSingle(delivery);
      else if (plan.kind === "batch") {
        this.#sendBatch(plan.deliveries);
        continue;
      }
      if (this.#underWay.batches === 0) this.#endBatches();
      const cancel = nextIn === undefined ? undefined : clock.after(nextIn, () => this.#work.raise());
      await this.#work.wait();
      cancel?.();
    }
    this.#endBatches();
  }

  /** What is to be sent at this moment, and in how many milliseconds more of it is due. */
  #plan(): { readonly plan: SendPlan; readonly nextIn: number | undefined } {
    const { store, clock, budgets } = this.#context;
    // With every batch under way their end is waited for; until then nothing is read for each message that comes.
    if (this.#connected === undefined || this.#underWay.batches >= BATCHES) {
      return { plan: { kind: "wait" }, nextIn: undefined };
    }
    const now = clock.now();
    const heads = laneHeads(store.reader, this.#gateway, LANES);
    const leftOf = ({ nextAttemptAt }: { readonly nextAttemptAt: number | undefined }): number =>
      waitLeft(nextAttemptAt, now, budgets.peerRetryMaxMs);
    const isDue = (one: { readonly nextAttemptAt: number | undefined }): boolean => leftOf(one) === 0;
    const free = heads.filter(({ recipientAgent }) => !this.#busy.has(recipientAgent));
    const due = lanesOfNext(free.filter(isDue), this.#underWay);
    const held = readDestination(store.reader, this.#gateway).hold !== undefined;
    const withheld = new Set(this.#withheld.values());
    const stays = (delivery: WaitingMessage): boolean =>
      !isDue(delivery) || withheld.has(delivery.deliveryId) || (held && now <= delivery.expiresAt);
    let left = SENT_ITEMS;
    const lanes: (readonly WaitingMessage[])[] = [];
    for (const [place, { recipientAgent }] of due.entries()) {
      if (left <= 0) break;
      const share = held ? 1 : laneShare(left, due.length - place);
      const lane = laneOf(store.reader, this.#gateway, recipientAgent, share);
      left -= lane.length;
      const end = lane.findIndex(stays);
      lanes.push(end < 0 ? lane : lane.slice(0, end));
    }
    const later = free.map(leftOf).filter((left) => left > 0);
    return {
      plan: planSends(
        lanes.filter(({ length }) => length > 0),
        this.#underWay,
        now,
      ),
      nextIn: later.length === 0 ? undefined : Math.min(...later),
    };
  }

  #sendSingle(delivery: WaitingMessage): void {
    const large = isLarge(delivery) ? 1 : 0;
    this.#underWay.singles += 1;
    this.#underWay.large += large;
    this.#track(
      [delivery],
      (connection, signal) => sendOne(this.#context, connection.client, delivery, signal),
      () => {
        this.#underWay.singles -= 1;
        this.#underWay.large -= large;
      },
    );
  }

  #sendBatch(deliveries: readonly WaitingMessage[]): void {
    this.#underWay.batches += 1;
    this.#track(
      deliveries,
      ({ client }, signal) => {
        if (this.#batches?.over !== false) {
          this.#batches = new BatchStream(client, signal, this.#context.clock, this.#context.budgets.unaryDeadlineMs);
        }
        return sendBatch(this.#context, client, this.#batches, deliveries, signal);
      },
      () => {
        this.#underWay.batches -= 1;
      },
    );
  }

  #endBatches(): void {
    this.#batches?.close();
    this.#batches = undefined;
  }

  /** Runs an attempt at messages; until its end nothing else is sent to their recipients. */
  #track(
    deliveries: readonly WaitingMessage[],
    attempt: (connection: PeerConnection, signal: AbortSignal) => Promise<unknown>,
    onEnd: () => void,
  ): void {
    const recipients = new Set(deliveries.map(({ recipientAgent }) => recipientAgent));
    for (const recipient of recipients) this.#busy.add(recipient);
    const run = async (): Promise<void> => {
      try {
        const connection = this.#connection;
        const connected = this.#connected;
        if (connection === undefined || connected === undefined) return;
        await attempt(connection, AbortSignal.any([this.#stop, connected.signal]));
      } catch (caught) {
        const [first] = deliveries;
        this.#context.log.error({ deliveryId: first?.deliveryId, err: caught }, "an attempt could not be recorded");
        await pause(this.#context.clock, this.#context.budgets.peerRetryMinMs, this.#stop);
      } finally {
        for (const { deliveryId } of deliveries) this.#inFlight.delete(deliveryId);
        for (const recipient of recipients) this.#busy.delete(recipient);
        onEnd();
        this.#work.raise();
      }
    };
    // Begun in a later step, so that the end finds what is entered here.
    const ended = Promise.resolve().then(run);
    for (const { deliveryId } of deliveries) this.#inFlight.set(deliveryId, ended);
  }
}
