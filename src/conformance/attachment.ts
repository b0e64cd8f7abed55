import { AttachRequest } from "../gen/talaria/owner/v1/owner_service.js";
import type { TextDelta, TurnEvent } from "../gen/talaria/types/v1/event.js";
import { DeltaChannel } from "../gen/talaria/types/v1/event.js";
import type { Connection } from "../rpc/connection.js";
import type { RpcError } from "../rpc/rpcError.js";
import { afterFrame, type OwnerFrame, type WorkerFrame, type WorkerPhase } from "./framePhases.js";
import type { SignalBoard } from "./signalBoard.js";

type Kind = WorkerFrame["$case"];
type ValueOf<K extends Kind> = Extract<WorkerFrame, { $case: K }>["value"];

/** Acks are due after this many bytes, as a gateway's owner gives them; a heartbeat is acknowledged always. */
const ACK_EVERY_BYTES = 262_144;
/** Largest text of a delta and most events of a batch. Source: TextDelta and Events. */
const DELTA_BYTES = 262_144;
const BATCH_EVENTS = 4_096;

/** How a worker's Attach stream is served. */
export interface AttachmentLink {
  readonly connection: Connection;
  /** Sends a frame; undefined sends an empty one. */
  readonly send: (frame: OwnerFrame | undefined) => void;
  /** Ends the stream, with an error or without. */
  readonly end: (error?: RpcError) => void;
}

/** One worker's Attach stream as its owner sees it. Every frame is held to the rules that hold always. */
export class Attachment {
  /** Everything that has come. */
  readonly frames: AttachRequest[] = [];
  /** Rules that were broken; no check passes with one. */
  readonly violations: string[] = [];
  /** False keeps back every ack. */
  acknowledges = true;
  /** Whether the worker has ended its half, or the stream is gone. */
  over = false;
  /** Where the worker stands. */
  phase: WorkerPhase = "spawned";
  /** Bytes of the frames that were not acknowledged. */
  outstanding = 0;
  readonly #link: AttachmentLink;
  readonly #board: SignalBoard;
  #unacknowledged = 0;
  #seen = 0;

  constructor(link: AttachmentLink, board: SignalBoard) {
    this.#link = link;
    this.#board = board;
  }

  /** What the kernel and the listener say about its connection. */
  get connection(): Connection {
    return this.#link.connection;
  }

  /** The events so far, in order. */
  get events(): readonly TurnEvent[] {
    return this.frames.flatMap(({ frame }) => (frame?.$case === "events" ? frame.value.events : []));
  }

  /** The answer as it was streamed so far. */
  get text(): string {
    return this.deltas
      .map(({ text, channel }) => (channel === DeltaChannel.DELTA_CHANNEL_REASONING ? "" : text))
      .join("");
  }

  /** The deltas so far, of both channels. */
  get deltas(): readonly TextDelta[] {
    return this.events.flatMap(({ event }) => (event?.$case === "delta" ? [event.value] : []));
  }

  /** The kinds of the frames so far, runs of one kind once. */
  get kinds(): readonly Kind[] {
    const kinds = this.frames.flatMap(({ frame }) => (frame === undefined ? [] : [frame.$case]));
    return kinds.filter((kind, at) => kind !== kinds[at - 1]);
  }

  /** Sends a frame; undefined sends an empty one. */
  send(frame: OwnerFrame | undefined): void {
    if (frame?.$case === "bootstrap" && this.phase === "attached") this.phase = "bootstrapped";
    if (frame?.$case === "finish" && this.phase === "result") this.phase = "finishing";
    this.#link.send(frame);
  }

  /** Ends the stream. */
  end(error?: RpcError): void {
    this.#link.end(error);
  }

  /** Notes that Adopt is about to be answered. */
  adopted(): void {
    if (this.phase === "bootstrapped") this.phase = "adopted";
  }

  /** Acknowledges everything so far. */
  acknowledge(): void {
    this.#unacknowledged = 0;
    this.outstanding = 0;
    this.send({ $case: "ack", value: { sequence: this.frames.at(-1)?.sequence ?? 0n } });
  }

  /** Takes in a frame. */
  take(request: AttachRequest): void {
    const { frame, sequence } = request;
    const expected = BigInt(this.frames.length + 1);
    if (sequence !== expected) this.#break(`frame ${String(expected)} has the sequence ${String(sequence)}`);
    this.frames.push(request);
    if (frame === undefined) this.#break("a frame is empty or not of this contract");
    else this.#judge(frame);
    const bytes = AttachRequest.encode(request).finish().length;
    this.outstanding += bytes;
    this.#unacknowledged += bytes;
    const due = frame?.$case === "heartbeat" || this.#unacknowledged >= ACK_EVERY_BYTES;
    if (this.acknowledges && due && !this.over) this.acknowledge();
    this.#board.changed();
  }

  /** Notes the end of the worker's half. */
  ended(): void {
    this.over = true;
    this.#board.changed();
  }

  /** Waits for the next frame of a kind, after those already waited for. @throws CheckFailure. */
  async next<K extends Kind>(kind: K, ms?: number): Promise<ValueOf<K>> {
    const look = (): { readonly value: ValueOf<K> } | undefined => {
      for (let at = this.#seen; at < this.frames.length; at++) {
        const frame = this.frames[at]?.frame;
        if (frame?.$case !== kind) continue;
        this.#seen = at + 1;
        return { value: frame.value as ValueOf<K> };
      }
      return undefined;
    };
    return (await this.#board.until(`frame ${kind}`, look, () => this.state, ms)).value;
  }

  /** What has come so far, for reports. */
  get state(): string {
    const error = this.frames.findLast(({ frame }) => frame?.$case === "error")?.frame;
    const said = error?.$case === "error" ? ` (error: ${error.value.message})` : "";
    return `frames: ${this.kinds.join(", ") || "none"}${said}`;
  }

  #judge(frame: WorkerFrame): void {
    const next = afterFrame(this.phase, frame.$case);
    if (next === undefined) this.#break(`${frame.$case} was sent in the phase ${this.phase}`);
    else this.phase = next;
    if (frame.$case !== "events") return;
    const { events } = frame.value;
    if (events.length === 0 || events.length > BATCH_EVENTS) this.#break(`a batch has ${String(events.length)} events`);
    for (const { event } of events) {
      if (event === undefined) this.#break("an event is empty");
      if (event?.$case !== "delta") continue;
      const bytes = Buffer.byteLength(event.value.text);
      if (bytes === 0 || bytes > DELTA_BYTES) this.#break(`a delta has ${String(bytes)} bytes`);
    }
  }

  #break(what: string): void {
    if (!this.violations.includes(what)) this.violations.push(what);
  }
}
