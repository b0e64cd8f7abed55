import type { SessionUpdate } from "../../gen/talaria/gateway/v1/turn_service.js";
import type { TurnEvent } from "../../gen/talaria/types/v1/event.js";

/** What an update weighs besides its text, in the same unit. */
const BASE = 128;
/** Most that one update other than streamed events weighs: the end of a turn must not be what a viewer misses because its answer is long. */
const MOST = 65_536;

/** Roughly what an update takes of memory, in UTF-16 units: what is kept for viewers is bounded by it. */
export function updateWeight({ update }: SessionUpdate): number {
  if (update?.$case !== "events") return BASE + textWeight(update, MOST);
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

/** The length of all texts in a value, at most `most`. */
function textWeight(value: unknown, most: number): number {
  if (typeof value === "string") return Math.min(value.length, most);
  if (typeof value !== "object" || value === null) return 0;
  if (value instanceof Uint8Array) return Math.min(value.length, most);
  let weight = 0;
  for (const part of Object.values(value)) {
    weight += textWeight(part, most - weight);
    if (weight >= most) break;
  }
  return weight;
}
