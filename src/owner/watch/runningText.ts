import type { TurnEvent } from "../../gen/talaria/types/v1/event.js";
import { DeltaChannel } from "../../gen/talaria/types/v1/event.js";

/** Most of a running answer that a snapshot shows, UTF-16 units; the whole answer is in the receipt. */
const MAX_LENGTH = 524_288;

/** The answer of a running turn as far as it has been streamed. */
export class RunningText {
  #parts: string[] = [];
  #length = 0;

  /** Adds what a batch says. */
  add(events: readonly TurnEvent[]): void {
    for (const { event } of events) {
      if (event?.$case !== "delta" || event.value.channel === DeltaChannel.DELTA_CHANNEL_REASONING) continue;
      if (this.#length >= MAX_LENGTH) return;
      this.#parts.push(event.value.text);
      this.#length += event.value.text.length;
    }
  }

  /** The text so far. */
  get text(): string {
    if (this.#parts.length > 1) this.#parts = [this.#parts.join("")];
    return this.#parts[0] ?? "";
  }
}
