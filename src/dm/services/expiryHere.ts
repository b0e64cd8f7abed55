const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * When a message expires by this gateway's clock. Less than a minute between the sender's clock and this one is the message's way;
 * more is a difference of the clocks, of which a day is made up for. Source: DESIGN section 5,
 * `expires_at` travels.
 * @param expiresAt by the sender's clock, epoch milliseconds
 * @param sentAt the sender's clock as it sent the message; undefined where it does not say
 * @param now this gateway's clock
 */
export function expiryHere(expiresAt: number, sentAt: number | undefined, now: number): number {
  const ahead = sentAt === undefined ? 0 : now - sentAt;
  if (Math.abs(ahead) < MINUTE_MS) return expiresAt;
  return expiresAt + Math.max(-DAY_MS, Math.min(DAY_MS, ahead));
}
