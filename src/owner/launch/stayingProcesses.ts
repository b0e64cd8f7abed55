import { runningBackgroundProcesses } from "../../store/queries/backgroundProcesses.js";
import type { Store } from "../../store/store.js";
import type { StayingProcess } from "./findEscaped.js";

/** The background processes that a session's turns have recorded and that are not known to have ended. */
export function stayingProcesses({ reader }: Pick<Store, "reader">, sessionId: string): readonly StayingProcess[] {
  return runningBackgroundProcesses(reader, sessionId);
}
