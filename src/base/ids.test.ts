import fc from "fast-check";
import { expect, test } from "vitest";

import { ID_PREFIXES, isId, newId, parseAgentName, parseId } from "./ids.js";
import { systemRandom } from "./random.js";
import { seededRandom } from "./testing/seededRandom.js";

test("every new id has the documented shape and parses as its own prefix only", () => {
  for (const prefix of ID_PREFIXES) {
    const id = newId(prefix, systemRandom);
    expect(id).toMatch(/^[a-z]{3}_[0-9a-z]{26}$/);
    expect(ID_PREFIXES.filter((other) => isId(other, id))).toEqual([prefix]);
  }
});

test("10,000 ids differ; the same seed gives the same id", () => {
  expect(new Set(Array.from({ length: 10_000 }, () => newId("ses", systemRandom))).size).toBe(10_000);
  expect(newId("ses", seededRandom(7))).toBe(newId("ses", seededRandom(7)));
});

test.each(["", "ses_", "ses_ABCDEFGHIJKLMNOPQRSTUVWXYZ", "ses_0123456789abcdefghijklmnop\n", "del_" + "0".repeat(26)])(
  "%j is no session id",
  (text) => {
    expect(parseId("ses", text)).toBeUndefined();
  },
);

test("agent names follow the grammar", () => {
  expect(["main", "a", "0-x_y", "a".repeat(64)].map(parseAgentName)).not.toContain(undefined);
  for (const bad of ["", "-a", "_a", "A", "a b", "a/b", "..", "a".repeat(65), "main\n"]) {
    expect(parseAgentName(bad), JSON.stringify(bad)).toBeUndefined();
  }
});

test("seeded fractions stay in [0, 1)", () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const fraction = seededRandom(seed).fraction();
      return fraction >= 0 && fraction < 1;
    }),
  );
});
