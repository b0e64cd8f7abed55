import type { Clock } from "../../base/clock.js";
import type { SessionUpdate } from "../../gen/talaria/gateway/v1/turn_service.js";
import { toTimestamp } from "../../rpc/wire/times.js";
import { SessionLog } from "./sessionLog.js";
import type { Watcher } from "./watcher.js";

/** A change of a session, before it has its place. */
export type SessionChange = NonNullable<SessionUpdate["update"]>;

/** What a watch starts with. */
export type WatchStart =
  /** The changes after the cursor are still kept. */
  | { readonly kind: "resume"; readonly missed: readonly SessionUpdate[] }
  /** A snapshot is due; `gap` where changes after the cursor are lost. */
  | { readonly kind: "snapshot"; readonly gap: boolean; readonly oldest: bigint | undefined };

/** Most sessions without a viewer whose changes are kept; beyond it those are forgotten that were touched longest ago. */
const MAX_UNWATCHED = 256;

interface Watched {
  readonly log: SessionLog;
  readonly watchers: Set<Watcher>;
}

/** Carries what happens in sessions to their viewers. In memory only: what must not be lost is in the store. */
export class SessionHub {
  readonly #epoch: bigint;
  readonly #clock: Clock;
  readonly #keep: number;
  readonly #maxUnwatched: number;
  readonly #watched = new Map<string, Watched>();
  /** Sessions without a viewer, the one that was touched longest ago first. */
  readonly #unwatched = new Map<string, Watched>();
  /** Highest number that a forgotten log has given: a log that begins goes on from there, so that an old cursor meets a gap. */
  #forgotten = 0n;

  /**
   * @param keep most changes kept of one session.
   * @param maxUnwatched most sessions without a viewer whose changes are kept.
   */
  constructor(epoch: number, clock: Clock, keep: number, maxUnwatched = MAX_UNWATCHED) {
    this.#maxUnwatched = maxUnwatched;
    this.#epoch = BigInt(epoch);
    this.#clock = clock;
    this.#keep = keep;
  }

  /** Tells a session's viewers of a change. */
  publish(sessionId: string, change: SessionChange): void {
    const session = this.#session(sessionId);
    const update: SessionUpdate = {
      cursor: { epoch: this.#epoch, sequence: session.log.nextSequence },
      at: toTimestamp(this.#clock.now()),
      update: change,
    };
    session.log.add(update);
    for (const watcher of session.watchers) watcher.push(update);
    if (session.watchers.size === 0) this.#rest(sessionId, session);
  }

  /** Opens a watch. What is published from here on reaches the watcher. */
  open(
    sessionId: string,
    watcher: Watcher,
    cursor: { readonly epoch: bigint; readonly sequence: bigint } | undefined,
  ): WatchStart {
    const session = this.#session(sessionId);
    session.watchers.add(watcher);
    this.#unwatched.delete(sessionId);
    this.#watched.set(sessionId, session);
    if (cursor === undefined) return { kind: "snapshot", gap: false, oldest: undefined };
    const missed = cursor.epoch === this.#epoch ? session.log.after(cursor.sequence) : undefined;
    if (missed === undefined) return { kind: "snapshot", gap: true, oldest: session.log.oldest };
    return { kind: "resume", missed };
  }

  /** Closes a watch. */
  close(sessionId: string, watcher: Watcher): void {
    const session = this.#watched.get(sessionId);
    session?.watchers.delete(watcher);
    if (session?.watchers.size === 0) this.#rest(sessionId, session);
  }

  /** Ends every watch of a session that is no more. */
  drop(sessionId: string): void {
    for (const watcher of this.#watched.get(sessionId)?.watchers ?? []) watcher.end();
    this.#watched.delete(sessionId);
    this.#unwatched.delete(sessionId);
  }

  /** The cursor of the last change. */
  cursorOf(sessionId: string): { epoch: bigint; sequence: bigint } {
    return { epoch: this.#epoch, sequence: this.#session(sessionId).log.nextSequence - 1n };
  }

  /** Sessions of which changes are kept. */
  get kept(): number {
    return this.#watched.size + this.#unwatched.size;
  }

  /** Whether a viewer is attached who may answer prompts. */
  hasAnswerer(sessionId: string): boolean {
    return [...(this.#watched.get(sessionId)?.watchers ?? [])].some((watcher) => watcher.answersPrompts);
  }

  #session(sessionId: string): Watched {
    const known = this.#watched.get(sessionId) ?? this.#unwatched.get(sessionId);
    if (known !== undefined) return known;
    const session = { log: new SessionLog(this.#keep, this.#forgotten), watchers: new Set<Watcher>() };
    this.#rest(sessionId, session);
    return session;
  }

  /** Notes that a session without a viewer was touched, and forgets what is over the bound. */
  #rest(sessionId: string, session: Watched): void {
    this.#watched.delete(sessionId);
    this.#unwatched.delete(sessionId);
    this.#unwatched.set(sessionId, session);
    for (const [oldest, { log }] of this.#unwatched) {
      if (this.#unwatched.size <= this.#maxUnwatched) return;
      const last = log.nextSequence - 1n;
      if (last > this.#forgotten) this.#forgotten = last;
      this.#unwatched.delete(oldest);
    }
  }
}
