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

/** Carries what happens in sessions to their viewers. In memory only: what must not be lost is in the store. */
export class SessionHub {
  readonly #epoch: bigint;
  readonly #clock: Clock;
  readonly #keep: number;
  readonly #sessions = new Map<string, { readonly log: SessionLog; readonly watchers: Set<Watcher> }>();

  /** @param keep most changes kept of one session. */
  constructor(epoch: number, clock: Clock, keep: number) {
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
  }

  /** Opens a watch. What is published from here on reaches the watcher. */
  open(
    sessionId: string,
    watcher: Watcher,
    cursor: { readonly epoch: bigint; readonly sequence: bigint } | undefined,
  ): WatchStart {
    const session = this.#session(sessionId);
    session.watchers.add(watcher);
    if (cursor === undefined) return { kind: "snapshot", gap: false, oldest: undefined };
    const missed = cursor.epoch === this.#epoch ? session.log.after(cursor.sequence) : undefined;
    if (missed === undefined) return { kind: "snapshot", gap: true, oldest: session.log.oldest };
    return { kind: "resume", missed };
  }

  /** Closes a watch. */
  close(sessionId: string, watcher: Watcher): void {
    const session = this.#sessions.get(sessionId);
    session?.watchers.delete(watcher);
  }

  /** Ends every watch of a session that is no more. */
  drop(sessionId: string): void {
    for (const watcher of this.#sessions.get(sessionId)?.watchers ?? []) watcher.end();
    this.#sessions.delete(sessionId);
  }

  /** The cursor of the last change. */
  cursorOf(sessionId: string): { epoch: bigint; sequence: bigint } {
    return { epoch: this.#epoch, sequence: this.#session(sessionId).log.nextSequence - 1n };
  }

  /** Whether a viewer is attached who may answer prompts. */
  hasAnswerer(sessionId: string): boolean {
    return [...(this.#sessions.get(sessionId)?.watchers ?? [])].some((watcher) => watcher.answersPrompts);
  }

  #session(sessionId: string): { readonly log: SessionLog; readonly watchers: Set<Watcher> } {
    let session = this.#sessions.get(sessionId);
    if (session === undefined) {
      session = { log: new SessionLog(this.#keep), watchers: new Set() };
      this.#sessions.set(sessionId, session);
    }
    return session;
  }
}
