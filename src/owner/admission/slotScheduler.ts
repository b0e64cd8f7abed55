/** One of the turns that may run at once. */
export interface Slot {
  /** Stops counting while the turn waits for a person or a child; a turn that goes on counts again at once. */
  yield(): void;
  /** Counts again. The cap may be passed for a while: nothing else starts until it is kept again. */
  resume(): void;
}

/** Runs a session's next input in a slot. Resolves when the session may be looked at again. */
export type RunNext = (sessionId: string, slot: Slot) => Promise<"ran" | "nothing">;

/**
 * Shares the worker slots among sessions. A session is in the line once; after each turn it goes to the end of it, so a
 * session with many inputs holds nobody else's back. Source: DESIGN section 6.
 */
export class SlotScheduler {
  readonly #max: number;
  readonly #runNext: RunNext;
  readonly #onError: (sessionId: string, error: unknown) => void;
  readonly #line: string[] = [];
  readonly #waiting = new Set<string>();
  readonly #active = new Map<string, { again: boolean }>();
  #used = 0;
  #open = false;
  #whenIdle: (() => void)[] = [];

  constructor(max: number, runNext: RunNext, onError: (sessionId: string, error: unknown) => void) {
    this.#max = max;
    this.#runNext = runNext;
    this.#onError = onError;
  }

  /** Slots that count. */
  get used(): number {
    return this.#used;
  }

  /** Sessions whose turn runs. */
  get active(): number {
    return this.#active.size;
  }

  /** Begins to start turns. */
  open(): void {
    this.#open = true;
    this.#pump();
  }

  /** Starts no more turns; those that run go on. */
  close(): void {
    this.#open = false;
  }

  /** Resolves when no turn runs. */
  async idle(): Promise<void> {
    if (this.#active.size > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  /** Says that a session may have something to run. */
  wake(sessionId: string): void {
    const active = this.#active.get(sessionId);
    if (active !== undefined) {
      active.again = true;
      return;
    }
    if (this.#waiting.has(sessionId)) return;
    this.#waiting.add(sessionId);
    this.#line.push(sessionId);
    this.#pump();
  }

  #pump(): void {
    while (this.#open && this.#used < this.#max) {
      const sessionId = this.#line.shift();
      if (sessionId === undefined) return;
      this.#waiting.delete(sessionId);
      void this.#serve(sessionId);
    }
  }

  async #serve(sessionId: string): Promise<void> {
    const state = { again: false, counts: true, over: false };
    this.#active.set(sessionId, state);
    this.#used += 1;
    const slot: Slot = {
      yield: () => {
        if (!state.counts || state.over) return;
        state.counts = false;
        this.#used -= 1;
        this.#pump();
      },
      resume: () => {
        if (state.counts) return;
        state.counts = true;
        this.#used += 1;
      },
    };
    let ran = false;
    try {
      ran = (await this.#runNext(sessionId, slot)) === "ran";
    } catch (error) {
      this.#onError(sessionId, error);
    }
    if (state.counts) this.#used -= 1;
    // A slot that is used after its turn must change nothing.
    state.counts = true;
    state.over = true;
    this.#active.delete(sessionId);
    if (ran || state.again) this.wake(sessionId);
    else this.#pump();
    if (this.#active.size === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }
}
