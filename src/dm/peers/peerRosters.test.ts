import { expect, test } from "vitest";

import { countCodePoints } from "../../base/codePoints.js";
import { FakeClock } from "../../base/testing/fakeClock.js";
import { Liveness, type RosterEntry } from "../../gen/talaria/dm/v1/roster.js";
import type { PeerEntry } from "../ports/directory.js";
import { ROSTER_FRESH_MS } from "../relay/relayRosters.js";
import { createPeerRosters, ROSTER_KEPT_MS } from "./peerRosters.js";

const entry = (name: string, more: Partial<RosterEntry> = {}): RosterEntry => ({
  name,
  handle: name,
  title: "",
  description: "",
  liveness: Liveness.LIVENESS_UNSPECIFIED,
  main: false,
  address: "",
  ...more,
});
const peers = new Map<string, PeerEntry>([["south", { name: "south", address: "s:1", pin: "" }]]);

test("a roster is fresh for a while after it was confirmed, then only kept, then gone", () => {
  const clock = new FakeClock();
  const rosters = createPeerRosters(peers, clock);
  expect(rosters.get("south")).toBeUndefined();
  rosters.store("south", [entry("eve")], "abc");
  expect(rosters.get("south")).toMatchObject({ fingerprint: "abc", fresh: true, rows: [{ name: "eve" }] });
  clock.advance(ROSTER_FRESH_MS - 1);
  rosters.confirm("south");
  clock.advance(ROSTER_FRESH_MS - 1);
  expect(rosters.get("south")?.fresh).toBe(true);
  clock.advance(1);
  expect(rosters.get("south")).toMatchObject({ fresh: false, rows: [{ name: "eve" }] });
  clock.advance(ROSTER_KEPT_MS);
  expect(rosters.get("south")).toBeUndefined();
  rosters.confirm("south");
  expect(rosters.get("south")).toBeUndefined();
});

test("what is a peer no more has no roster", () => {
  const some = new Map(peers);
  const rosters = createPeerRosters(some, new FakeClock());
  rosters.store("south", [entry("eve")], "abc");
  some.delete("south");
  expect(rosters.get("south")).toBeUndefined();
});

test("a hostile roster is cut to rows that can be names, one line each and not too many", () => {
  const rosters = createPeerRosters(peers, new FakeClock());
  const names = ["$(reboot)", "a b", "a\nb", "../x", "", "-x", "x".repeat(65), "a/b", "a@b"];
  const text = `line\u0000\n\u202e$(reboot) ${"x".repeat(5_000)}`;
  rosters.store(
    "south",
    [
      ...names.map((name) => entry(name)),
      entry("eve", { title: text, description: text }),
      entry("EVE", { title: "another" }),
      ...Array.from({ length: 5_000 }, (_, n) => entry(`a${String(n)}`)),
    ],
    "f".repeat(10_000),
  );
  const { rows = [], fingerprint = "" } = rosters.get("south") ?? {};
  expect(rows.length).toBeLessThanOrEqual(1_000);
  expect(rows.every(({ name }) => /^[a-z0-9][a-z0-9_-]{0,63}$/.test(name))).toBe(true);
  const eve = rows.find(({ name }) => name === "eve");
  expect(countCodePoints(eve?.title ?? "")).toBeLessThanOrEqual(120);
  expect(countCodePoints(eve?.description ?? "")).toBeLessThanOrEqual(160);
  expect(`${eve?.title ?? ""}${eve?.description ?? ""}`).not.toMatch(/[\n\u0000\u202e]/);
  expect(fingerprint.length).toBeLessThanOrEqual(64);
});
