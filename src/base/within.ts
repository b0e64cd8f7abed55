import type { Clock } from "./clock.js";

/**
 * Waits for a promise, but at most `ms` milliseconds. @returns what it comes to; undefined where that is not yet known.
 * @throws what it rejects with in that time
 */
export async function within<T>(clock: Clock, ms: number, event: Promise<T>): Promise<T | undefined> {
  let cancel = (): void => undefined;
  const late = new Promise<undefined>((resolve) => {
    cancel = clock.after(ms, () => {
      resolve(undefined);
    });
  });
  try {
    return await Promise.race([event, late]);
  } finally {
    cancel();
  }
}
