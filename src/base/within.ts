import type { Clock } from "./clock.js";

/** Waits for an event, but at most `ms` milliseconds. The event must not reject. */
export async function within(clock: Clock, ms: number, event: Promise<unknown>): Promise<void> {
  let cancel = (): void => undefined;
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  });
  await Promise.race([event, late]);
  cancel();
}
