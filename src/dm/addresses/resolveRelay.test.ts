import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { countCodePoints } from "../../base/codePoints.js";
import { FakeClock } from "../../base/testing/fakeClock.js";
import { Liveness, type RosterEntry } from "../../gen/talaria/dm/v1/roster.js";
import { createRelayRosters, ROSTER_FRESH_MS, type RelayNamespace } from "../relay/relayRosters.js";
import { readRelayRows, RELAY_ROWS } from "../relay/relayRow.js";
import { relayAddress, resolveRelay } from "./resolveRelay.js";
import { resolveTarget } from "./resolveTarget.js";
import { parseTarget } from "./targetGrammar.js";

const entry = (more: Partial<RosterEntry>): RosterEntry => ({
  name: "dana",
  handle: more.name ?? "dana",
  title: "",
  description: "",
  liveness: Liveness.LIVENESS_ONLINE,
  main: false,
  address: "",
  ...more,
});
const namespace = (entries: readonly RosterEntry[], fresh = true): RelayNamespace => ({
  connector: "laptop",
  rows: readRelayRows(entries),
  fresh,
});
const resolve = (target: string, relay: RelayNamespace) =>
  resolveTarget(parseTarget(target), { agents: [], peers: [], relays: [relay] });

describe("<handle>@<connection>", () => {
  test("DM017 means the exact name before a handle before a friendly name", () => {
    const rows = namespace([
      entry({ name: "ada", title: "Dana" }),
      entry({ name: "dana", title: "Other" }),
      entry({ name: "box", handle: "main", main: true }),
    ]);
    expect(resolve("DANA@Laptop", rows)).toMatchObject({ kind: "relay", agent: "dana" });
    expect(resolve("main@laptop", rows)).toMatchObject({ kind: "relay", agent: "box" });
    expect(resolve("other@laptop", rows)).toMatchObject({ kind: "relay", agent: "dana", title: "Other" });
  });

  test("DM018 of a friendly name that several have is ambiguous, with a form for each", () => {
    const rows = namespace([entry({ name: "a", title: "Big Bob" }), entry({ name: "b", title: "big-bob" })]);
    expect(resolve("big-bob@laptop", rows)).toEqual({ kind: "ambiguous", forms: ["a@laptop", "b@laptop"] });
  });

  test("DM081 DM-R42 names no connection with quotes, spaces or 65 characters", () => {
    for (const connection of ["lap'top", 'lap"top', "lap top", "l".repeat(65), "$(reboot)"]) {
      expect(resolve(`dana@${connection}`, namespace([entry({})]))).toMatchObject({ kind: "unknown" });
    }
  });

  test("DM091 of a stale roster, or of none, is taken as it is typed where it can be a name", () => {
    expect(resolve("dana@laptop", namespace([]))).toMatchObject({ kind: "relayOffline" });
    expect(resolve("dana@laptop", namespace([], false))).toMatchObject({ kind: "relay", agent: "dana" });
    expect(resolve("da na@laptop", namespace([], false))).toMatchObject({ kind: "unknown" });
    const away = [entry({ liveness: Liveness.LIVENESS_OFFLINE })];
    expect(resolve("dana@laptop", namespace(away))).toMatchObject({ kind: "relayOffline" });
    expect(resolve("dana@laptop", namespace(away, false))).toMatchObject({ kind: "relay", agent: "dana" });
  });

  test("DM021 is the only form that reaches behind a connector", () => {
    expect(resolve("dana", namespace([entry({})]))).toEqual({ kind: "unknown" });
    expect(resolve("laptop/dana", namespace([entry({})]))).toMatchObject({ kind: "unknownPeer" });
  });

  test("DM020 is printed so that it means the same agent, whatever the roster and its order", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "-", " ", "A", "@", "/", "é"), maxLength: 6 });
    const entries = fc.array(fc.record({ name: text, handle: text, title: text }), { maxLength: 8 });
    fc.assert(
      fc.property(entries, (made) => {
        const relay = namespace(made.map(entry));
        for (const { name } of relay.rows) {
          const address = relayAddress("laptop", name);
          expect(resolve(address, relay)).toMatchObject({ kind: "relay", connector: "laptop", agent: name });
          const reversed = { ...relay, rows: [...relay.rows].reverse() };
          expect(resolve(address, reversed)).toEqual(resolve(address, relay));
        }
      }),
    );
  });

  test("resolves nothing of a connector that is not paired", () => {
    expect(resolveRelay("dana", "laptop", [])).toEqual({ kind: "unknown" });
  });
});

describe("a roster", () => {
  test("is believed for 600 s after its connector was last heard, also when it was published long ago", () => {
    const clock = new FakeClock();
    const rosters = createRelayRosters({ list: () => [{ name: "laptop" }], get: () => undefined }, clock);
    expect(rosters.namespaces()).toMatchObject([{ fresh: false, rows: [] }]);
    rosters.publish("laptop", readRelayRows([entry({})]));
    clock.advance(ROSTER_FRESH_MS - 1);
    rosters.heard("laptop");
    clock.advance(ROSTER_FRESH_MS - 1);
    expect(rosters.namespaces()).toMatchObject([{ fresh: true }]);
    clock.advance(1);
    expect(rosters.namespaces()).toMatchObject([{ fresh: false, rows: [{ name: "dana" }] }]);
  });

  test("holds 1,000 rows at most", () => {
    const many = Array.from({ length: 3_000 }, (_, n) => entry({ name: `a${String(n)}` }));
    expect(readRelayRows(many)).toHaveLength(RELAY_ROWS);
  });

  test("of anything keeps names that are names, each once, and texts within their bounds", () => {
    const wild = fc.string({ unit: "binary", maxLength: 200 });
    const entries = fc.array(
      fc.record({ name: wild, handle: wild, title: wild, description: wild, liveness: fc.integer() }),
    );
    fc.assert(
      fc.property(entries, (made) => {
        const rows = readRelayRows([...made.map((one) => entry(one as Partial<RosterEntry>)), entry({})]);
        expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
        for (const { name, handle, title, description } of rows) {
          expect(name).toMatch(/^[a-z0-9][a-z0-9_-]{0,63}$/);
          expect(handle).toMatch(/^[a-z0-9][a-z0-9_-]{0,63}$/);
          expect(countCodePoints(title)).toBeLessThanOrEqual(120);
          expect(countCodePoints(description)).toBeLessThanOrEqual(160);
          expect(title + description).not.toMatch(/[\p{Cc}\u202E]/u);
        }
      }),
    );
  });
});
