/** Connections that wait for their turn, in a fair order. Decides only; whoever holds it does what is decided. */
export interface WaitingRoom<T> {
  /** How many are in it. */
  readonly size: number;
  /**
   * Takes one in that came from a source. It has no turn before {@link WaitingRoom.ready}.
   * @returns the one that has to leave for it where the room is full: the oldest of the source that has
   *   the most, the newcomer counted.
   */
  enter(one: T, source: string): T | undefined;
  /** Lets one have a turn. Nothing for one that is not in the room, or is ready. @param nowMs milliseconds of a clock that never goes back */
  ready(one: T, nowMs: number): void;
  /** Takes one out; nothing for one that is not in the room. */
  leave(one: T): void;
  /**
   * Takes out the one whose turn it is. Sources take turns. Of each the one that has been ready longest goes first, unless it has waited
   * longer than the room's patience: from then on, more come than can be served, and the newest goes first, as the one that is least
   * likely to give up before it is served.
   */
  next(nowMs: number): T | undefined;
  /** Everything in the room. */
  all(): readonly T[];
}

interface Source<T> {
  readonly name: string;
  /** In the order in which they came. */
  readonly present: Set<T>;
  /** Since when each is ready, oldest first. */
  readonly ready: Map<T, number>;
  /** The same, newest last, with some that are not ready any more. */
  newest: T[];
}

/**
 * Makes an empty room.
 * @param places how many may be in it at a time, at least 1
 * @param patienceMs see {@link WaitingRoom.next}
 */
export function createWaitingRoom<T>(places: number, patienceMs: number): WaitingRoom<T> {
  const sources = new Map<string, Source<T>>();
  const sourceOf = new Map<T, Source<T>>();
  /** Those with somebody ready, in the order of their turns. */
  const turns = new Set<Source<T>>();

  const leave = (one: T): void => {
    const source = sourceOf.get(one);
    if (source === undefined) return;
    sourceOf.delete(one);
    source.present.delete(one);
    source.ready.delete(one);
    if (source.newest.length > 2 * source.ready.size) source.newest = [...source.ready.keys()];
    if (source.ready.size === 0) turns.delete(source);
    if (source.present.size === 0) sources.delete(source.name);
  };
  const makeRoom = (newcomer: string): T | undefined => {
    if (sourceOf.size < places) return undefined;
    let fullest: Source<T> | undefined;
    let most = 0;
    for (const source of sources.values()) {
      const count = source.present.size + (source.name === newcomer ? 1 : 0);
      if (count > most) [fullest, most] = [source, count];
    }
    const [oldest] = fullest?.present ?? [];
    if (oldest !== undefined) leave(oldest);
    return oldest;
  };
  const pick = ({ ready, newest }: Source<T>, nowMs: number): T | undefined => {
    const [oldest] = ready;
    if (oldest === undefined) return undefined;
    const [one, sinceMs] = oldest;
    if (nowMs - sinceMs <= patienceMs) return one;
    for (;;) {
      const last = newest.at(-1);
      if (last === undefined || ready.has(last)) return last;
      newest.pop();
    }
  };

  return {
    get size() {
      return sourceOf.size;
    },
    enter(one, name) {
      const left = makeRoom(name);
      const source = sources.get(name) ?? { name, present: new Set<T>(), ready: new Map<T, number>(), newest: [] };
      sources.set(name, source);
      source.present.add(one);
      sourceOf.set(one, source);
      return left;
    },
    ready(one, nowMs) {
      const source = sourceOf.get(one);
      if (source === undefined || source.ready.has(one)) return;
      source.ready.set(one, nowMs);
      source.newest.push(one);
      turns.add(source);
    },
    leave,
    next(nowMs) {
      const [source] = turns;
      if (source === undefined) return undefined;
      const one = pick(source, nowMs);
      if (one !== undefined) leave(one);
      // To the end of the line, where it has more.
      if (turns.delete(source)) turns.add(source);
      return one;
    },
    all: () => [...sourceOf.keys()],
  };
}
