import type { Client, MethodDefinition } from "@grpc/grpc-js";
import { LIMITS } from "../base/limits.js";
import { OwnerServiceService, type AttachResponse } from "../gen/talaria/owner/v1/owner_service.js";
import type { TurnEvent } from "../gen/talaria/types/v1/event.js";
import { openBidi } from "../rpc/clients/openBidi.js";
import { RpcError } from "../rpc/rpcError.js";
import { FrameSender, type WorkerFrame } from "./frameSender.js";
import { transition, type PhaseEvent, type WorkerPhase } from "./workerPhase.js";

/** An owner's frame. */
export type OwnerFrame = NonNullable<AttachResponse["frame"]>;

const attachOfBytes: MethodDefinition<Uint8Array, AttachResponse> = {
  ...OwnerServiceService.attach,
  requestSerialize: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  requestDeserialize: (bytes) => bytes,
};

/** The Attach stream with its phase: every frame of either direction is checked against it. */
export class AttachSession {
  readonly #call;
  readonly #sender: FrameSender;
  #phase: WorkerPhase = "spawned";

  constructor(client: Client) {
    this.#call = openBidi(client, attachOfBytes);
    this.#sender = new FrameSender(this.#call, LIMITS.outstandingBytes, () => {
      this.sendUrgent({
        $case: "heartbeat",
        value: { loopDelayMs: 0, residentBytes: BigInt(process.memoryUsage.rss()), usage: undefined },
      });
    });
    void this.#call.ended.then((error) => {
      this.#sender.close(error ?? new RpcError("UNAVAILABLE", { message: "The owner has ended the stream." }));
    });
  }

  /** Where the worker stands. */
  get phase(): WorkerPhase {
    return this.#phase;
  }

  /** Resolves, and never rejects, when the stream has ended: undefined after success, else why. */
  get ended(): Promise<RpcError | undefined> {
    return this.#call.ended;
  }

  /** Sets the owner's bound on unacknowledged bytes. */
  setBound(bytes: number): void {
    this.#sender.setBound(bytes);
  }

  /** Bytes sent beyond the owner's last ack. */
  get outstandingBytes(): number {
    return this.#sender.outstandingBytes;
  }

  /** Sends a frame in its turn. @throws RpcError FRAME_OUT_OF_PHASE, or why the stream has ended. */
  async send(frame: WorkerFrame): Promise<void> {
    this.#advance({ kind: "sent", frame: frame.$case });
    await this.#sender.send(frame);
  }

  /** Sends an event; see {@link FrameSender.emit}. @throws RpcError FRAME_OUT_OF_PHASE. */
  emit(event: TurnEvent): Promise<void> {
    this.#advance({ kind: "sent", frame: "events" });
    return this.#sender.emit(event);
  }

  /** Sends an event; resolves when it has left, see {@link FrameSender.left}. @throws RpcError FRAME_OUT_OF_PHASE. */
  async announce(event: TurnEvent): Promise<void> {
    await this.emit(event);
    await this.#sender.left();
  }

  /** Sends a heartbeat or an error ahead of everything; does nothing where the phase or the stream allows none. */
  sendUrgent(frame: Extract<WorkerFrame, { $case: "heartbeat" | "error" }>): void {
    const next = transition(this.#phase, { kind: "sent", frame: frame.$case });
    if (next === undefined) return;
    try {
      this.#sender.sendUrgent(frame);
      this.#phase = next;
    } catch {
      // The stream has ended; `ended` says why.
    }
  }

  /** Says that Adopt has answered. */
  adopted(): void {
    this.#advance({ kind: "adopted" });
  }

  /**
   * Hands on the owner's frames, each checked against the phase; acks are taken in here. What breaks the protocol, and whatever
   * `take` throws, goes to `fail`, and reading goes on: leaving the loop would cut the stream before the error frame is out.
   * Resolves when there is nothing more to read, and never rejects.
   */
  async listen(take: (frame: OwnerFrame) => void, fail: (error: unknown) => void): Promise<void> {
    try {
      for await (const { frame } of this.#call.responses) {
        try {
          this.#receive(frame, take);
        } catch (error) {
          fail(error);
        }
      }
    } catch (error) {
      // How the stream itself ended is told by `ended`; a message that cannot be read is a broken frame.
      if (RpcError.is(error, "MALFORMED_MESSAGE") || RpcError.is(error, "INVALID_UTF8")) fail(error);
    }
  }

  /** Closes the sending half. */
  end(): void {
    this.#call.end();
  }

  /** Ends the stream at once. */
  cancel(): void {
    this.#call.cancel();
  }

  #receive(frame: AttachResponse["frame"], take: (frame: OwnerFrame) => void): void {
    if (frame === undefined) {
      throw new RpcError("FRAME_INVALID", { message: "A control frame is empty or of a later version." });
    }
    this.#advance({ kind: "received", frame: frame.$case });
    if (frame.$case === "ack") this.#acknowledge(frame.value.sequence);
    else if (this.#phase !== "failed") take(frame);
  }

  #acknowledge(sequence: bigint): void {
    try {
      this.#sender.acknowledge(sequence);
    } catch (cause) {
      throw new RpcError("FRAME_INVALID", { message: "An ack names a frame that was not sent.", cause });
    }
  }

  #advance(event: PhaseEvent): void {
    const next = transition(this.#phase, event);
    if (next === undefined) {
      const metadata = { frame: event.kind === "adopted" ? "adopt" : event.frame, phase: this.#phase };
      throw new RpcError("FRAME_OUT_OF_PHASE", { metadata });
    }
    this.#phase = next;
  }
}
