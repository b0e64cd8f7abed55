import type { Clock } from "../../base/clock.js";

/** Wrong secrets that a source may give before it has to wait. */
export const FREE_ATTEMPTS = 5;
/** The first wait, milliseconds; each further wrong secret doubles it. */
const FIRST_WAIT_MS = 1_000;
/** Longest wait, milliseconds. */
export const LONGEST_WAIT_MS = 60_000;
/** A source that gave no wrong secret for so long starts anew, milliseconds. */
const FORGOTTEN_MS = 600_000;
/** Most sources that are remembered; beyond it the one that was quiet longest is forgotten. */
const SOURCES = 1_000;

/**
 * Slows down whoever gives wrong secrets, by the address that it comes from. Invites are not touched: a secret of 128 bits is not
 * guessed, and a stranger's guesses must not spend what was made for somebody else. In memory.
 */
export class PairAttempts {
  readonly #clock: Clock;
  readonly #sources = new Map<string, { wrong: number; lastAt: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long a source must wait before its next attempt is looked at, milliseconds; 0 = not at all. */
  waitOf(source: string): number {
    const known = this.#sources.get(source);
    if (known === undefined || known.wrong < FREE_ATTEMPTS) return 0;
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(30, known.wrong - FREE_ATTEMPTS));
    return Math.max(0, known.lastAt + wait - this.#clock.monotonic());
  }

  /** Says that a source gave a wrong secret. */
  failed(source: string): void {
    const now = this.#clock.monotonic();
    const known = this.#sources.get(source);
    const wrong = known === undefined || now - known.lastAt > FORGOTTEN_MS ? 1 : known.wrong + 1;
    this.#sources.delete(source);
    this.#sources.set(source, { wrong, lastAt: now });
    const [oldest] = this.#sources.keys();
    if (this.#sources.size > SOURCES && oldest !== undefined) this.#sources.delete(oldest);
  }

  /** Says that a source gave a right one. */
  succeeded(source: string): void {
    this.#sources.delete(source);
  }
}
