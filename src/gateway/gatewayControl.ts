import { createDeferred } from "../base/deferred.js";
import { toTimestamp } from "../rpc/wire/times.js";
import type { Cleanups } from "./cleanups.js";
import type { GatewayContext, GatewayRooms } from "./gatewayContext.js";
import type { GatewayListeners } from "./gatewayListeners.js";

/** How a gateway is brought to its end. */
export interface GatewayControl {
  /** When running turns will be stopped, epoch milliseconds; undefined while the gateway takes work. */
  readonly stopAt: number | undefined;
  /** Resolves when the gateway has ended, however that was asked for. */
  readonly ended: Promise<void>;
  /**
   * Refuses new work, lets running turns end for `graceMs` milliseconds (default: the home's drain budget), stops the rest, then
   * ends. Calling it again waits for the same end.
   */
  drain(graceMs?: number): Promise<void>;
  /** Ends at once: workers are cut off and their turns recovered at the next start. */
  close(): Promise<void>;
}

/** What a control ends. */
export interface Controlled extends GatewayRooms {
  /** Undefined before they are open. */
  readonly listeners: GatewayListeners | undefined;
  /** Everything that was begun. */
  readonly undo: Cleanups;
}

/** Longest wait for calls that still run when everything they wait for has ended, milliseconds. */
const LAST_CALLS_MS = 2_000;

/** Makes the control of a gateway. */
export function createControl(context: GatewayContext, controlled: () => Controlled): GatewayControl {
  const { clock, log, budgets, events } = context;
  const ended = createDeferred<void>();
  let stopAt: number | undefined;
  let draining: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  const end = async (): Promise<void> => {
    try {
      await controlled().undo.run();
    } catch (error) {
      log.error({ err: error }, "the gateway did not end cleanly");
    }
    log.info("ended");
    ended.resolve();
  };
  const close = (): Promise<void> => (closing ??= end());
  const drain = async (graceMs: number): Promise<void> => {
    const { owner, dm, listeners } = controlled();
    stopAt = clock.now() + graceMs;
    log.info({ graceMs }, "draining");
    events.publish({ $case: "drainStarted", value: { stopAt: toTimestamp(stopAt) } });
    listeners?.refuseNewWork();
    try {
      // Turns first: clients may watch, answer and stop them to the end.
      await Promise.all([owner.drain(graceMs), dm.drain(graceMs)]);
      events.end();
      await listeners?.drain(LAST_CALLS_MS);
    } catch (error) {
      log.error({ err: error }, "draining failed");
    }
    await close();
  };
  return {
    get stopAt() {
      return stopAt;
    },
    ended: ended.promise,
    drain: (graceMs = budgets.drainMs) => (draining ??= drain(graceMs)),
    close,
  };
}
