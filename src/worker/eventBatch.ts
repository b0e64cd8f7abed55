import { DeltaChannel, TurnEvent, type TextDelta } from "../gen/talaria/types/v1/event.js";

/** Largest text of one delta on the wire, bytes of UTF-8. */
export const DELTA_BYTES = 262_144;

/** Most events of one frame. */
const FRAME_EVENTS = 4_096;

/** Most bytes of one frame; a single event may be larger. */
const FRAME_BYTES = 262_144;

/** What an event costs besides its text: tags, lengths and the channel, at their longest. */
const EVENT_OVERHEAD = 24;

interface Gathered {
  event: TurnEvent;
  bytes: number;
}

/** Events that gather for one or more frames. Consecutive text deltas of one channel become one. */
export class EventBatch {
  #events: Gathered[] = [];

  /** Whether nothing is left. */
  get empty(): boolean {
    return this.#events.length === 0;
  }

  /** Adds an event. @returns the bytes that it adds at most. */
  add(event: TurnEvent): number {
    const delta = event.event?.$case === "delta" ? event.event.value : undefined;
    if (delta === undefined) {
      const bytes = TurnEvent.encode(event).finish().length + EVENT_OVERHEAD;
      this.#events.push({ event, bytes });
      return bytes;
    }
    const textBytes = Buffer.byteLength(delta.text, "utf8");
    const last = this.#events.at(-1);
    const lastDelta = last?.event.event?.$case === "delta" ? last.event.event.value : undefined;
    if (last !== undefined && lastDelta !== undefined && joinable(lastDelta, delta, last.bytes + textBytes)) {
      lastDelta.text += delta.text;
      last.bytes += textBytes;
      return textBytes;
    }
    const bytes = textBytes + EVENT_OVERHEAD;
    // A copy: the text grows.
    this.#events.push({ event: { event: { $case: "delta", value: { ...delta } } }, bytes });
    return bytes;
  }

  /** Bytes of the frame that {@link take} makes next, at most. */
  firstFrameBytes(): number {
    return this.#events.slice(0, this.#frameLength()).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Takes the events of the next frame. */
  take(): TurnEvent[] {
    return this.#events.splice(0, this.#frameLength()).map(({ event }) => event);
  }

  #frameLength(): number {
    let bytes = 0;
    let length = 0;
    for (const gathered of this.#events) {
      bytes += gathered.bytes;
      if (length > 0 && (bytes > FRAME_BYTES || length >= FRAME_EVENTS)) break;
      length += 1;
    }
    return length;
  }
}

function joinable(a: TextDelta, b: TextDelta, bytes: number): boolean {
  return channelOf(a) === channelOf(b) && bytes <= DELTA_BYTES;
}

function channelOf({ channel }: TextDelta): DeltaChannel {
  return channel === DeltaChannel.DELTA_CHANNEL_UNSPECIFIED ? DeltaChannel.DELTA_CHANNEL_ANSWER : channel;
}
