import type { SessionUpdate } from "../../gen/talaria/gateway/v1/turn_service.js";
import type { TurnEvent } from "../../gen/talaria/types/v1/event.js";

/** What an update weighs besides its text, in the same unit. */
const BASE = 128;

/** Roughly what an update takes of memory, in UTF-16 units: what is kept for viewers is bounded by it. */
export function updateWeight({ update }: SessionUpdate): number {
  if (update?.$case !== "events") return BASE;
  return update.value.events.reduce((sum, one) => sum + eventWeight(one), BASE);
}

function eventWeight({ event }: TurnEvent): number {
  switch (event?.$case) {
    case "delta":
      return event.value.text.length;
    case "toolStarted":
      return BASE + JSON.stringify(event.value.arguments ?? {}).length;
    case "toolCompleted":
      return BASE + event.value.result.length;
    case undefined:
      return 0;
  }
}
