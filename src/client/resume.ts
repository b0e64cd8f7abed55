import type { Clock } from "../base/clock.js";
import { pause } from "../base/pause.js";
import type { Random } from "../base/random.js";
import { cancellation } from "../rpc/clients/callOptions.js";
import { RpcError } from "../rpc/rpcError.js";
import { retryDelay, type RetryPolicy, shouldRetry } from "./retryPolicy.js";

/** What trying again needs. */
export interface RetryPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly policy: RetryPolicy;
}

/** A stream that may be opened again where it broke. */
export interface Resumable<Item> {
  /** Opens it; called anew after each break. */
  readonly open: () => AsyncIterable<Item>;
  /** Takes what has come, before it is handed on: the place to resume from. */
  readonly seen: (item: Item) => void;
  /** Whether nothing follows an item. A stream that ends before it is opened again. */
  readonly isLast: (item: Item) => boolean;
  /** Told before it is opened again, with what broke it; undefined where it ended without an error. */
  readonly broke?: (error: RpcError | undefined) => void;
}

/**
 * Reads a stream over the death and restart of its gateway.
 * @throws RpcError what cannot be mended by trying again, what was last wrong when `policy.reconnectMs` have passed without an item,
 *   or CANCELLED where the signal aborts.
 */
export async function* resume<Item>(
  { open, seen, isLast, broke }: Resumable<Item>,
  { clock, random, policy }: RetryPorts,
  signal: AbortSignal,
): AsyncGenerator<Item, void, undefined> {
  let heardAt = clock.monotonic();
  for (let failures = 1; ; failures += 1) {
    if (signal.aborted) throw cancellation(signal);
    let error: RpcError | undefined;
    try {
      for await (const item of open()) {
        heardAt = clock.monotonic();
        failures = 1;
        seen(item);
        yield item;
        if (isLast(item)) return;
      }
    } catch (caught) {
      error = RpcError.from(caught);
      if (!shouldRetry(error, signal.aborted)) throw error;
    }
    if (clock.monotonic() - heardAt > policy.reconnectMs) throw error ?? new RpcError("UNAVAILABLE");
    broke?.(error);
    await pause(clock, retryDelay(failures, error ?? new RpcError("UNAVAILABLE"), random, policy), signal);
  }
}

/** Makes a call again while that may help. @throws RpcError of the last try. */
export async function retry<Response>(
  attempt: () => Promise<Response>,
  { clock, random, policy }: RetryPorts,
  signal: AbortSignal,
): Promise<Response> {
  for (let failures = 1; ; failures += 1) {
    if (signal.aborted) throw cancellation(signal);
    try {
      return await attempt();
    } catch (caught) {
      const error = RpcError.from(caught);
      if (failures >= policy.attempts || !shouldRetry(error, signal.aborted)) throw error;
      await pause(clock, retryDelay(failures, error, random, policy), signal);
    }
  }
}
