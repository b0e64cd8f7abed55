import type { Logger } from "../../base/logger.js";
import { tellUnknown } from "./tellUnknown.js";
import type { TurnParts } from "./turnParts.js";

/** Tells in the background that a turn's outcome is unknown; what cannot be told is logged, and left to the next start. */
export function tellSoon(parts: Pick<TurnParts, "store" | "clock" | "listeners">, log: Logger, inputId: string): void {
  tellUnknown(parts, parts.listeners.unknownOutcome, log, inputId).catch((error: unknown) => {
    log.error({ err: error }, "an unknown outcome could not be told; the next start will");
  });
}
