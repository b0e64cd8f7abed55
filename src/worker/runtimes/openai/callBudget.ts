/** Requests that a turn may make where its policy does not say. */
export const DEFAULT_MODEL_CALLS = 64;

/** Counts the requests of a turn against its limit. */
export class CallBudget {
  readonly #limit: number;
  #made = 0;

  /** @param limit most requests; 0 = {@link DEFAULT_MODEL_CALLS} */
  constructor(limit: number) {
    this.#limit = limit === 0 ? DEFAULT_MODEL_CALLS : limit;
  }

  /** Most requests. */
  get limit(): number {
    return this.#limit;
  }

  /** Requests that may still be made. */
  get left(): number {
    return this.#limit - this.#made;
  }

  /** Takes one. @returns false where none is left. */
  take(): boolean {
    if (this.left <= 0) return false;
    this.#made += 1;
    return true;
  }
}
