import { createDeferred } from "../../base/deferred.js";
import type { AttachRequest, AttachResponse } from "../../gen/talaria/owner/v1/owner_service.js";
import type { CloseReason } from "../../gen/talaria/owner/v1/owner_service.js";
import type { Connection } from "../../rpc/connection.js";
import type { BidiStream } from "../../rpc/harness/methods.js";
import { reasonNumber } from "../../rpc/reasonNumber.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { WorkerEvidence } from "../identity/workerEvidence.js";
import type { Launch } from "../launch/launch.js";

/** A frame from the worker. */
export type WorkerFrame = NonNullable<AttachRequest["frame"]>;
/** A frame to the worker. */
export type OwnerFrame = NonNullable<AttachResponse["frame"]>;

/** Takes a worker's frames one after another; what it throws ends the stream with that status. */
export type FrameHandler = (frame: WorkerFrame) => Promise<void> | void;

/** Acks are due after this many bytes, a quarter of what a worker may have outstanding. */
const ACK_EVERY_BYTES = 262_144;

/** The stream of one proved worker. */
export class WorkerLink {
  readonly launch: Launch;
  readonly evidence: WorkerEvidence;
  readonly connection: Connection;
  /** Resolves when the stream has ended, with the error that ended it, if one did. */
  readonly closed: Promise<RpcError | undefined>;
  readonly #stream: BidiStream<AttachRequest, AttachResponse>;
  readonly #closed = createDeferred<RpcError | undefined>();
  readonly #closing = createDeferred<void>();
  readonly #handled = createDeferred<void>();
  #handler: FrameHandler | undefined;
  #sequence: bigint;
  #unacknowledgedBytes = 0;
  #ended = false;

  constructor(
    launch: Launch,
    evidence: WorkerEvidence,
    connection: Connection,
    stream: BidiStream<AttachRequest, AttachResponse>,
  ) {
    this.launch = launch;
    this.evidence = evidence;
    this.connection = connection;
    this.#stream = stream;
    this.#sequence = 1n;
    this.closed = this.#closed.promise;
  }

  /** Whether the stream has ended or is about to: nothing more is heard of the worker here. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Resolves when the owner has asked for the end of the stream. */
  get closeRequested(): Promise<void> {
    return this.#closing.promise;
  }

  /** Gives the worker's frames to a handler, in place of the one before. */
  handle(handler: FrameHandler): void {
    this.#handler = handler;
    this.#handled.resolve();
  }

  /**
   * Sends a frame; on a stream that has ended it goes nowhere, which {@link closed} tells. Frames to workers are few and small; a
   * worker that reads nothing is found by its other bounds.
   * @throws RpcError MESSAGE_TOO_LARGE.
   */
  send(frame: OwnerFrame): void {
    if (this.#ended) return;
    try {
      this.#stream.sendNow({ frame });
    } catch (error) {
      // A stream breaks before its reader, which may be storing a frame, has come to know.
      if (!(error instanceof RpcError) || error.reason === "MESSAGE_TOO_LARGE") throw error;
    }
  }

  /** Takes in a frame: checks its number, hands it on and acknowledges when it is time. */
  async receive(request: AttachRequest, sizeBytes: number): Promise<void> {
    if (request.sequence !== this.#sequence + 1n) {
      throw new RpcError("FRAME_SEQUENCE", {
        metadata: { expected: String(this.#sequence + 1n), got: String(request.sequence) },
      });
    }
    this.#sequence = request.sequence;
    if (request.frame === undefined) throw new RpcError("FRAME_INVALID", { message: "A frame has no known content." });
    // A worker may speak on before whoever waits for it has taken it over.
    if (this.#handler === undefined) await Promise.race([this.#handled.promise, this.#closing.promise]);
    await this.#handler?.(request.frame);
    this.#unacknowledgedBytes += sizeBytes;
    if (this.#unacknowledgedBytes >= ACK_EVERY_BYTES || request.frame.$case === "heartbeat") {
      this.#unacknowledgedBytes = 0;
      this.send({ $case: "ack", value: { sequence: this.#sequence } });
    }
  }

  /** Tells the worker why, and ends the stream. */
  close(reason: CloseReason, error?: RpcError): void {
    if (this.#ended) return;
    this.send({
      $case: "close",
      value: {
        reason,
        detail: error === undefined ? 0 : reasonNumber(error.reason),
        message: error?.message ?? "",
      },
    });
    this.#ended = true;
    this.#closing.resolve();
  }

  /** Says that the stream has ended. */
  end(error?: RpcError): void {
    this.#ended = true;
    this.#closed.resolve(error);
    this.#closing.resolve();
  }
}
