import type { TurnEvent } from "../../gen/talaria/types/v1/event.js";

/** Appends events to a batch; consecutive text deltas of one channel become one. Changes `into`, not its events. */
export function joinEvents(into: TurnEvent[], events: readonly TurnEvent[]): void {
  for (const one of events) {
    const last = into.at(-1);
    if (
      one.event?.$case === "delta" &&
      last?.event?.$case === "delta" &&
      last.event.value.channel === one.event.value.channel
    ) {
      const text = last.event.value.text + one.event.value.text;
      into[into.length - 1] = { event: { $case: "delta", value: { text, channel: one.event.value.channel } } };
    } else {
      into.push(one);
    }
  }
}
