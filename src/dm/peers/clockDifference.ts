/** A question for another machine's clock, and its answer. */
export interface ClockReading {
  /** When this machine asked, epoch milliseconds of its own clock. */
  readonly askedAt: number;
  /** When it had the answer, by the same clock, not before {@link ClockReading.askedAt}. */
  readonly answeredAt: number;
  /** What the other clock said in between, epoch milliseconds. */
  readonly said: number;
}

/** How far another machine's clock is from this one's. */
export interface ClockDifference {
  /** Milliseconds by which the other clock is ahead; negative where it is behind. */
  readonly aheadMs: number;
  /** Most that {@link ClockDifference.aheadMs} may be wrong by in either direction, milliseconds. */
  readonly errorMs: number;
}

/**
 * Judges another clock by one question. It was read somewhere between question and answer, so the middle is taken for the moment, and
 * half of the way is the error. Source: RFC 5905, on-wire protocol, with one time of the server for its two.
 */
export function clockDifference({ askedAt, answeredAt, said }: ClockReading): ClockDifference {
  return { aheadMs: said - (askedAt + answeredAt) / 2, errorMs: (answeredAt - askedAt) / 2 };
}
