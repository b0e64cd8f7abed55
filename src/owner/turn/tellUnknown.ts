import type { Logger } from "../../base/logger.js";
import { claimTelling } from "../../store/turns/claimTelling.js";
import { persistently } from "./persistently.js";
import type { TurnListeners, TurnParts } from "./turnParts.js";

/**
 * Tells of an unknown outcome in every way in which it was not told before. Each way is taken on in a commit of its own right before
 * it is gone, so that a gateway that dies on the way to it tells at its next start, and none tells twice.
 */
export async function tellUnknown(
  { store, clock }: Pick<TurnParts, "store" | "clock">,
  tell: TurnListeners["unknownOutcome"],
  log: Logger,
  inputId: string,
): Promise<void> {
  await tell(inputId, (telling) =>
    persistently(clock, log, () => store.writer.execute(claimTelling, { inputId, telling })),
  );
}
