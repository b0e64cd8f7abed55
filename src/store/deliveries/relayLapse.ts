/** What becomes of a leased message that its connector turned out never to have accepted. */
export type LapseVerdict =
  /** Its time has run out: nobody ever accepted it. */
  | "expire"
  /** It was offered again already, and not accepted either. */
  | "fail"
  /** It may be offered again. */
  | "again";

/** What {@link judgeLapse} decides from. Times are epoch milliseconds. */
export interface LapsedLease {
  readonly now: number;
  readonly expiresAt: number;
  /** Whether a lease on it ended like this before, in this attempt epoch. */
  readonly lapsedBefore: boolean;
}

/** A message whose lease ended without an acceptance, and of which the connector says that it never had it, is offered again once. */
export function judgeLapse({ now, expiresAt, lapsedBefore }: LapsedLease): LapseVerdict {
  if (now > expiresAt) return "expire";
  return lapsedBefore ? "fail" : "again";
}
