import { createDeferred, type Deferred } from "../base/deferred.js";
import type { AttachRequest } from "../gen/talaria/owner/v1/owner_service.js";
import type { TurnEvent } from "../gen/talaria/types/v1/event.js";
import { createFrameEncoder } from "./frameEncoder.js";
import { EventBatch } from "./eventBatch.js";

/** A frame without its number. */
export type WorkerFrame = NonNullable<AttachRequest["frame"]>;

/** The part of the attach call that frames are written to. */
export interface FrameSink {
  /** Writes at once. @returns false where the transport is behind. `onWritten` runs when the bytes have left. */
  sendNow(bytes: Uint8Array, onWritten?: () => void): boolean;
  /** Resolves when the transport has caught up. */
  drained(): Promise<void>;
}

/** Most bytes of events that wait in the worker before a runtime has to: the transport keeps as much again at most. */
const GATHERED_BYTES = 64 * 1024;

/** Kept free of events, so that heartbeats and an error still go when the owner acknowledges nothing. */
const RESERVE_BYTES = 4 * 1024;

interface ControlItem {
  readonly kind: "frame";
  readonly frame: WorkerFrame;
  readonly sent: Deferred<void>;
  starved: boolean;
}

/** A place among what is sent that somebody waits for: resolved when everything before it has left. */
interface Milestone {
  readonly kind: "milestone";
  readonly reached: Deferred<void>;
}

type Item = ControlItem | EventBatch | Milestone;

const READY = Promise.resolve();

/**
 * Numbers and sends the worker's frames, in order, within the owner's credit. Events gather naturally: sent at once where no
 * batch is in flight, else what has gathered goes when the write completes. No timer. Source: DESIGN section 3.
 */
export class FrameSender {
  readonly #sink: FrameSink;
  readonly #encode = createFrameEncoder();
  readonly #onStarved: () => void;
  #boundBytes: number;
  #sequence = 0n;
  #unacknowledged: { sequence: bigint; bytes: number }[] = [];
  #outstanding = 0;
  #queue: Item[] = [];
  #gathered = 0;
  #batchInFlight = false;
  #behind = false;
  #waiting: Deferred<void>[] = [];
  #closed: Error | undefined;

  /**
   * @param boundBytes most bytes of unacknowledged frames. A frame larger than that goes alone.
   * @param onStarved runs when a frame that is no event has to wait for credit: owners acknowledge now and then, and a
   *   heartbeat always.
   */
  constructor(sink: FrameSink, boundBytes: number, onStarved: () => void = () => undefined) {
    this.#sink = sink;
    this.#onStarved = onStarved;
    this.#boundBytes = boundBytes;
  }

  /** Bytes sent beyond the owner's last ack. */
  get outstandingBytes(): number {
    return this.#outstanding;
  }

  /** Sets the owner's bound once it is known. */
  setBound(boundBytes: number): void {
    this.#boundBytes = boundBytes;
    this.#pump();
  }

  /**
   * Sends an event, joined with its neighbours where it may be.
   * @returns a promise that settles when more may be emitted; after {@link close} events vanish, for nobody is left to see them.
   */
  emit(event: TurnEvent): Promise<void> {
    if (this.#closed !== undefined) return READY;
    const last = this.#queue.at(-1);
    const batch = last instanceof EventBatch ? last : new EventBatch();
    this.#gathered += batch.add(event);
    if (batch !== last) this.#queue.push(batch);
    this.#pump();
    if (this.#hasCredit()) return READY;
    const waiting = createDeferred<void>();
    this.#waiting.push(waiting);
    return waiting.promise;
  }

  /**
   * Resolves when all that was emitted so far has left for the transport: the owner learns of it then, even if this process dies at
   * once. At once after {@link close}.
   */
  left(): Promise<void> {
    if (this.#closed !== undefined) return READY;
    const reached = createDeferred<void>();
    this.#queue.push({ kind: "milestone", reached });
    this.#pump();
    return reached.promise;
  }

  /** Sends a frame after everything before it, once there is credit. @throws Error once the sender is closed. */
  send(frame: WorkerFrame): Promise<void> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    const sent = createDeferred<void>();
    this.#queue.push({ kind: "frame", frame, sent, starved: false });
    this.#pump();
    return sent.promise;
  }

  /** Sends a small frame at once, ahead of what waits and of credit. @throws Error once the sender is closed. */
  sendUrgent(frame: WorkerFrame): void {
    if (this.#closed !== undefined) throw this.#closed;
    this.#write(frame);
  }

  /** Takes in a cumulative ack. @throws RangeError for a frame that was never sent. */
  acknowledge(sequence: bigint): void {
    if (sequence > this.#sequence) throw new RangeError("ack of a frame that was not sent");
    let count = 0;
    for (const frame of this.#unacknowledged) {
      if (frame.sequence > sequence) break;
      this.#outstanding -= frame.bytes;
      count += 1;
    }
    if (count === 0) return;
    this.#unacknowledged.splice(0, count);
    this.#pump();
  }

  /** Ends sending: waiting frames fail with `error`, waiting emitters go on. */
  close(error: Error): void {
    if (this.#closed !== undefined) return;
    this.#closed = error;
    const queue = this.#queue;
    this.#queue = [];
    this.#gathered = 0;
    for (const item of queue) {
      if (item instanceof EventBatch) continue;
      if (item.kind === "milestone") {
        item.reached.resolve();
        continue;
      }
      // Not every sender waits.
      item.sent.promise.catch(() => undefined);
      item.sent.reject(error);
    }
    this.#release();
  }

  #hasCredit(): boolean {
    const bound = this.#boundBytes - Math.min(RESERVE_BYTES, this.#boundBytes / 16);
    return this.#gathered < GATHERED_BYTES && this.#outstanding + this.#gathered < bound;
  }

  #fits(bytes: number): boolean {
    const bound = this.#boundBytes - Math.min(RESERVE_BYTES, this.#boundBytes / 16);
    return this.#outstanding === 0 || this.#outstanding + bytes <= bound;
  }

  #pump(): void {
    while (this.#closed === undefined && !this.#behind) {
      const item = this.#queue[0];
      if (item === undefined) break;
      if (item instanceof EventBatch) {
        if (this.#batchInFlight || !this.#sendBatch(item)) break;
      } else if (item.kind === "milestone") {
        if (this.#batchInFlight) break;
        this.#queue.shift();
        item.reached.resolve();
      } else {
        const bytes = this.#encode({ sequence: this.#sequence + 1n, frame: item.frame });
        if (!this.#fits(bytes.length)) {
          if (!item.starved) {
            item.starved = true;
            this.#onStarved();
          }
          break;
        }
        this.#queue.shift();
        this.#writeBytes(bytes);
        item.sent.resolve();
      }
    }
    if (this.#hasCredit()) this.#release();
  }

  #sendBatch(batch: EventBatch): boolean {
    const size = batch.firstFrameBytes();
    if (!this.#fits(size)) return false;
    const events = batch.take();
    if (batch.empty) this.#queue.shift();
    this.#gathered -= size;
    this.#batchInFlight = true;
    this.#write({ $case: "events", value: { events } }, () => {
      this.#batchInFlight = false;
      this.#pump();
    });
    return true;
  }

  #write(frame: WorkerFrame, onWritten?: () => void): void {
    this.#writeBytes(this.#encode({ sequence: this.#sequence + 1n, frame }), onWritten);
  }

  #writeBytes(bytes: Uint8Array, onWritten?: () => void): void {
    this.#sequence += 1n;
    this.#unacknowledged.push({ sequence: this.#sequence, bytes: bytes.length });
    this.#outstanding += bytes.length;
    try {
      if (this.#sink.sendNow(bytes, onWritten) || this.#behind) return;
      this.#behind = true;
      this.#sink.drained().then(
        () => {
          this.#behind = false;
          this.#pump();
        },
        (error: unknown) => {
          this.close(error instanceof Error ? error : new Error("the call has ended"));
        },
      );
    } catch (error) {
      this.close(error instanceof Error ? error : new Error("the call has ended"));
    }
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const one of waiting) one.resolve();
  }
}
