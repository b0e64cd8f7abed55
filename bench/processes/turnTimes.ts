import { createDeferred } from "../../src/base/deferred.js";
import type { SessionUpdate } from "../../src/gen/talaria/gateway/v1/turn_service.js";
import { TurnPhase } from "../../src/gen/talaria/gateway/v1/turn_service.js";
import type { Owner } from "../../src/owner/owner.js";
import { Watcher } from "../../src/owner/watch/watcher.js";
import { admitText } from "./admitText.js";
import { checkOutcome } from "./floodTurns.js";

/** When the steps of one turn were published at the owner, milliseconds after its input was queued. */
export interface TurnTimes {
  /** A proved worker has the turn: for a pooled one at once, for a cold one after its start. */
  readonly worker: number;
  readonly ready: number;
  readonly firstDelta: number;
  /** The result is committed. */
  readonly ended: number;
}

/** Takes the time of each update as it is published. */
class TimingWatcher extends Watcher {
  readonly done = createDeferred<void>();
  readonly times = new Map<string, number>();

  override push({ update }: SessionUpdate): void {
    const now = performance.now();
    const name = update?.$case === "phaseChanged" ? `phase ${String(update.value.phase)}` : (update?.$case ?? "");
    if (!this.times.has(name)) this.times.set(name, now);
    if (update?.$case !== "turnEnded") return;
    try {
      checkOutcome(update.value);
      this.done.resolve();
    } catch (error) {
      this.done.reject(error);
    }
  }

  /** @throws Error where that was never published. */
  at(name: string): number {
    const time = this.times.get(name);
    if (time === undefined) throw new Error(`never published: ${name}; seen: ${[...this.times.keys()].join(", ")}`);
    return time;
  }
}

/** Runs one turn and says when its steps were reached. */
export async function turnTimes(owner: Owner, text: string): Promise<TurnTimes> {
  const { hub } = owner.parts;
  const sessionId = await admitText(owner, text);
  const watcher = new TimingWatcher(false);
  hub.open(sessionId, watcher, hub.cursorOf(sessionId));
  try {
    const queued = performance.now();
    owner.wake([sessionId]);
    await watcher.done.promise;
    const since = (name: string): number => watcher.at(name) - queued;
    return {
      worker: since(`phase ${String(TurnPhase.TURN_PHASE_PROVED)}`),
      ready: since(`phase ${String(TurnPhase.TURN_PHASE_RUNNING)}`),
      firstDelta: since("events"),
      ended: since("turnEnded"),
    };
  } finally {
    hub.close(sessionId, watcher);
  }
}
