import type { Clock } from "./clock.js";

/**
 * Waits, at most until the signal aborts. Never throws: the caller looks at the signal.
 * @param ms milliseconds; 0 or less does not wait
 * @param endable takes what ends the wait early
 */
export async function pause(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  endable: (end: () => void) => void = () => undefined,
): Promise<void> {
  if (ms <= 0 || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal.addEventListener("abort", done, { once: true });
    endable(done);
  });
}
