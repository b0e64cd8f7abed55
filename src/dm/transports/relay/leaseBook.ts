/** How long leases last, milliseconds. */
export interface LeaseTerms {
  /** From grant or renewal to lapse. */
  readonly leaseMs: number;
}

interface Lease {
  readonly leaseId: bigint;
  readonly until: number;
  /** No renewal goes beyond this. */
  readonly latest: number;
}

/**
 * The leases of one connection. A lease is renewed by each sign of life that names it, but not for ever: a message that has
 * expired stays leased for one more term at most, so that its lane goes on. Times are milliseconds of one steady clock; nothing
 * here reads it.
 */
export class LeaseBook {
  readonly #terms: LeaseTerms;
  readonly #leases = new Map<string, Lease>();

  constructor(terms: LeaseTerms) {
    this.#terms = terms;
  }

  /** Leases held. */
  get size(): number {
    return this.#leases.size;
  }

  /** Messages under lease. */
  get deliveryIds(): readonly string[] {
    return [...this.#leases.keys()];
  }

  /** Enters a lease. @param expiresIn time until the message expires @returns when it lapses unless renewed */
  grant(deliveryId: string, leaseId: bigint, now: number, expiresIn: number): number {
    const latest = now + Math.max(0, expiresIn) + this.#terms.leaseMs;
    const until = Math.min(now + this.#terms.leaseMs, latest);
    this.#leases.set(deliveryId, { leaseId, until, latest });
    return until;
  }

  /** Whether a message is under this lease. */
  holds(deliveryId: string, leaseId: bigint): boolean {
    return this.#leases.get(deliveryId)?.leaseId === leaseId;
  }

  /** Whether a message is under any lease. */
  has(deliveryId: string): boolean {
    return this.#leases.has(deliveryId);
  }

  /** Renews the named leases; ids that are no leases are nothing. */
  renew(leaseIds: Iterable<bigint>, now: number): void {
    const named = new Set(leaseIds);
    for (const [deliveryId, lease] of this.#leases) {
      if (!named.has(lease.leaseId)) continue;
      const until = Math.max(lease.until, Math.min(now + this.#terms.leaseMs, lease.latest));
      this.#leases.set(deliveryId, { ...lease, until });
    }
  }

  /** Ends the lease of a message. */
  end(deliveryId: string): void {
    this.#leases.delete(deliveryId);
  }

  /** Takes out what has lapsed. @returns those messages, in the order of their grants */
  takeLapsed(now: number): readonly string[] {
    const lapsed = [...this.#leases].filter(([, { until }]) => until <= now).map(([deliveryId]) => deliveryId);
    for (const deliveryId of lapsed) this.#leases.delete(deliveryId);
    return lapsed;
  }

  /** When the next lease lapses; undefined while there is none. */
  nextLapse(): number | undefined {
    let next: number | undefined;
    for (const { until } of this.#leases.values()) next = Math.min(next ?? until, until);
    return next;
  }
}
