import type { Clock } from "../../base/clock.js";
import type { WatchEventsResponse } from "../../gen/talaria/gateway/v1/admin_service.js";
import type { Cursor } from "../../gen/talaria/types/v1/cursor.js";
import { toTimestamp } from "../../rpc/wire/times.js";

/** What an operator should know of; a gap is added by the watch itself. */
export type OperatorEvent = Exclude<NonNullable<WatchEventsResponse["event"]>, { readonly $case: "gap" }>;

/** The events of this start, for any number of watchers. */
export interface OperatorEvents {
  /** Adds an event. */
  publish(event: OperatorEvent): void;
  /**
   * Follows the events after `cursor`, or from here on without one. A watcher that reads too slowly skips what is no longer kept and
   * is told so. Ends when the signal aborts or when the events end.
   */
  watch(cursor: Cursor | undefined, signal: AbortSignal): AsyncIterable<WatchEventsResponse>;
  /** Lets every watch end. */
  end(): void;
}

/** Events that are kept for a watcher to resume after. */
const KEPT = 1_000;

/** Keeps the events of one start in memory: what they tell of is on disk. */
export function createOperatorEvents(epoch: number, clock: Clock): OperatorEvents {
  const kept: { readonly sequence: number; readonly response: WatchEventsResponse }[] = [];
  const waiting = new Set<() => void>();
  let last = 0;
  let ended = false;
  const wake = (): void => {
    for (const run of [...waiting]) run();
  };
  const nextChange = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const run = (): void => {
        waiting.delete(run);
        signal.removeEventListener("abort", run);
        resolve();
      };
      waiting.add(run);
      signal.addEventListener("abort", run, { once: true });
      if (signal.aborted) run();
    });
  const cursorAt = (sequence: number): Cursor => ({ epoch: BigInt(epoch), sequence: BigInt(sequence) });

  async function* watch(cursor: Cursor | undefined, signal: AbortSignal): AsyncGenerator<WatchEventsResponse> {
    const here = cursor === undefined || (cursor.epoch === BigInt(epoch) && cursor.sequence <= BigInt(last));
    let place = cursor === undefined ? last : here ? Number(cursor.sequence) : -1;
    let requested = cursor ?? cursorAt(place);
    while (!signal.aborted) {
      const oldest = kept[0]?.sequence ?? last + 1;
      if (place < oldest - 1) {
        const oldestKept = kept.length === 0 ? undefined : cursorAt(oldest);
        place = oldest - 1;
        yield {
          cursor: cursorAt(place),
          at: toTimestamp(clock.now()),
          event: { $case: "gap", value: { requested, oldestKept } },
        };
        continue;
      }
      const next = kept[place + 1 - oldest];
      if (next !== undefined) {
        place = next.sequence;
        requested = cursorAt(place);
        yield next.response;
      } else if (ended) return;
      else await nextChange(signal);
    }
  }

  return {
    publish(event) {
      last += 1;
      kept.push({ sequence: last, response: { cursor: cursorAt(last), at: toTimestamp(clock.now()), event } });
      if (kept.length > KEPT) kept.shift();
      wake();
    },
    watch,
    end() {
      ended = true;
      wake();
    },
  };
}
