import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { judgeLapse } from "../../../store/deliveries/relayLapse.js";
import { LeaseBook } from "./leaseBook.js";

const LEASE_MS = 60_000;

describe("leases", () => {
  test("DM-R28 last as long as they are renewed, and lapse in the order of their grants", () => {
    const book = new LeaseBook({ leaseMs: LEASE_MS });
    expect(book.grant("a", 1n, 0, 900_000)).toBe(60_000);
    book.grant("b", 2n, 0, 900_000);
    book.grant("c", 3n, 10, 900_000);
    expect(book.nextLapse()).toBe(60_000);
    book.renew([2n, 99n], 50_000);
    expect(book.takeLapsed(59_999)).toEqual([]);
    expect(book.takeLapsed(60_010)).toEqual(["a", "c"]);
    expect(book.deliveryIds).toEqual(["b"]);
    expect(book.holds("b", 1n)).toBe(false);
    expect(book.holds("b", 2n)).toBe(true);
    expect(book.takeLapsed(110_000)).toEqual(["b"]);
    expect(book.nextLapse()).toBeUndefined();
  });

  test("of an expired message end, however often they are renewed", () => {
    const book = new LeaseBook({ leaseMs: LEASE_MS });
    book.grant("a", 1n, 0, 100_000);
    let now = 0;
    while (book.has("a") && now < 1_000_000) {
      now += 10_000;
      book.renew([1n], now);
      book.takeLapsed(now);
    }
    expect(now).toBe(160_000);
  });

  test("under any order of grants, renewals, ends and time lapse once, never early, never twice", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("grant" as const), id: fc.nat(5), life: fc.nat(900_000) }),
      fc.record({ kind: fc.constant("renew" as const), id: fc.nat(40) }),
      fc.record({ kind: fc.constant("end" as const), id: fc.nat(5) }),
      fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(80_000) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
        const book = new LeaseBook({ leaseMs: LEASE_MS });
        const model = new Map<string, { leaseId: bigint; heard: number; latest: number }>();
        let now = 0;
        let leases = 0n;
        for (const one of steps) {
          switch (one.kind) {
            case "grant": {
              const id = String(one.id);
              if (model.has(id)) break;
              leases += 1n;
              book.grant(id, leases, now, one.life);
              model.set(id, { leaseId: leases, heard: now, latest: now + one.life + LEASE_MS });
              break;
            }
            case "renew":
              book.renew([BigInt(one.id)], now);
              for (const lease of model.values()) if (lease.leaseId === BigInt(one.id)) lease.heard = now;
              break;
            case "end":
              book.end(String(one.id));
              model.delete(String(one.id));
              break;
            case "wait": {
              now += one.ms;
              const due = [...model].filter(([, { heard, latest }]) => Math.min(heard + LEASE_MS, latest) <= now);
              expect([...book.takeLapsed(now)].sort()).toEqual(due.map(([id]) => id).sort());
              for (const [id] of due) model.delete(id);
            }
          }
          expect([...book.deliveryIds].sort()).toEqual([...model.keys()].sort());
        }
      }),
    );
  });
});

describe("a lapsed lease of which the connector knows nothing", () => {
  test("is offered again once while there is time, and is never offered a third time", () => {
    fc.assert(
      fc.property(fc.nat(2_000), fc.nat(2_000), fc.boolean(), (now, expiresAt, lapsedBefore) => {
        const verdict = judgeLapse({ now, expiresAt, lapsedBefore });
        expect(verdict).toBe(now > expiresAt ? "expire" : lapsedBefore ? "fail" : "again");
        if (verdict === "again") expect(judgeLapse({ now, expiresAt, lapsedBefore: true })).not.toBe("again");
      }),
    );
  });
});
