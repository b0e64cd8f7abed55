import { setTimeout as pause } from "node:timers/promises";

/** How long a test waits for something, milliseconds. */
export const WAIT_MS = 15_000;
/** Between two looks where nothing says that the state has changed, milliseconds. */
const LOOK_AGAIN_MS = 10;

/** What a look finds: the value waited for, or the state as it is, for the report of a wait that fails. */
export type Look<T> = { readonly found: T } | { readonly state: unknown };

/**
 * Looks until there is something to find. For states that nobody reports; a stream is better waited for with its log.
 * @throws Error naming what was waited for and the last state, after {@link WAIT_MS}.
 */
export async function waitFor<T>(
  description: string,
  probe: () => Look<T> | Promise<Look<T>>,
  waitMs = WAIT_MS,
): Promise<T> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const look = await probe();
    if ("found" in look) return look.found;
    if (performance.now() >= deadline) {
      throw new Error(`not reached in ${String(waitMs)} ms: ${description}; last state: ${show(look.state)}`);
    }
    await pause(LOOK_AGAIN_MS);
  }
}

/** Waits until a condition holds. @param state told by the report of a wait that fails. */
export async function waitUntil(
  description: string,
  holds: () => boolean,
  state: () => unknown = () => false,
): Promise<void> {
  await waitFor(description, () => (holds() ? { found: true } : { state: state() }));
}

/** A value for a person; wire integers as texts. */
export function show(value: unknown): string {
  if (typeof value === "string" || value === undefined) return value ?? "nothing";
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? part.toString() : part));
}
