import { createDeferred, type Deferred } from "../base/deferred.js";
import type { GatewayInfo, RosterEntry } from "../gen/talaria/dm/v1/roster.js";
import { Liveness } from "../gen/talaria/dm/v1/roster.js";

/** What is published of this machine's agents at one moment. */
export interface RosterState {
  readonly entries: readonly RosterEntry[];
  /** Names the content. */
  readonly fingerprint: string;
}

/** The roster of this machine, as its gateway last told it. */
export class PublishedRoster {
  #state: RosterState | undefined;
  #changed: Deferred<void> = createDeferred<void>();
  /** What the gateway last said of itself. */
  info: GatewayInfo | undefined;

  /** Takes what the gateway says. */
  here(info: GatewayInfo, entries: readonly RosterEntry[], fingerprint: string): void {
    this.info = info;
    this.#set({ entries, fingerprint });
  }

  /** The gateway does not answer: its agents cannot be reached. */
  away(): void {
    const { entries = [], fingerprint = "" } = this.#state ?? {};
    if (fingerprint.startsWith(AWAY)) return;
    const offline = entries.map((entry) => ({ ...entry, liveness: Liveness.LIVENESS_OFFLINE }));
    this.#set({ entries: offline, fingerprint: `${AWAY}${fingerprint}`.slice(0, 12) });
  }

  /** The roster, then each change of it. Ends with the signal. */
  async *follow(signal: AbortSignal): AsyncGenerator<RosterState> {
    let sent: RosterState | undefined;
    while (!signal.aborted) {
      const state = this.#state;
      if (state !== undefined && state !== sent) {
        sent = state;
        yield state;
        continue;
      }
      await abortable(this.#changed.promise, signal);
    }
  }

  #set(state: RosterState): void {
    if (state.fingerprint === this.#state?.fingerprint) return;
    this.#state = state;
    const changed = this.#changed;
    this.#changed = createDeferred<void>();
    changed.resolve();
  }
}

/** Marks a fingerprint; no other has a letter outside hexadecimal. */
const AWAY = "x";

async function abortable(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const stopped = createDeferred<void>();
  const stop = (): void => {
    stopped.resolve();
  };
  signal.addEventListener("abort", stop, { once: true });
  await Promise.race([promise, stopped.promise]);
  signal.removeEventListener("abort", stop);
}
