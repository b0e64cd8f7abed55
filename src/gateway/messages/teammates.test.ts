import { expect, test } from "vitest";

import { resolveTarget } from "../../dm/addresses/resolveTarget.js";
import { parseTarget } from "../../dm/addresses/targetGrammar.js";
import type { PeerRoster } from "../../dm/peers/peerRosters.js";
import type { AgentEntry, PeerEntry } from "../../dm/ports/directory.js";
import type { RelayRow } from "../../dm/relay/relayRow.js";
import { Liveness } from "../../gen/talaria/dm/v1/roster.js";
import { listTeammates } from "./teammates.js";

const agent = (name: string, more: Partial<AgentEntry> = {}): AgentEntry => ({
  name,
  title: name,
  description: "",
  main: false,
  private: false,
  messaging: true,
  ...more,
});
const peer = (name: string, agents?: readonly string[]): PeerEntry => ({
  name,
  address: "127.0.0.1:1",
  pin: "",
  ...(agents === undefined ? {} : { agents }),
});
const addresses = (agents: AgentEntry[], peers: PeerEntry[], asking?: string): string[] =>
  listTeammates(agents, peers, asking).map(({ address }) => address);

test("local agents come first, then the peers' main agents", () => {
  expect(addresses([agent("ada"), agent("bob")], [peer("east")])).toEqual(["ada", "bob", "east"]);
});

test("DM100 the agent that asks, private ones and those without messaging are left out", () => {
  const agents = [agent("ada"), agent("bob", { private: true }), agent("eve", { messaging: false }), agent("joe")];
  expect(addresses(agents, [], "ada")).toEqual(["joe"]);
});

test("a name that is both has a form of its own for each", () => {
  expect(addresses([agent("east")], [peer("east")])).toEqual(["agent:east", "east/main"]);
});

test("DM021 behind a connector everyone is listed that it has published, by the form that reaches them", () => {
  const row = {
    name: "dana",
    handle: "main",
    title: "Dana",
    description: "",
    liveness: "offline",
    main: true,
  } as const;
  const relays = [{ connector: "laptop", rows: [row], fresh: true }];
  const listed = listTeammates([agent("ada")], [], undefined, { relays });
  expect(listed.map(({ address, gateway, entry }) => [address, gateway, entry?.liveness])).toEqual([
    ["ada", "", Liveness.LIVENESS_ONLINE],
    ["dana@laptop", "laptop", Liveness.LIVENESS_OFFLINE],
  ]);
  const [stale] = listTeammates([], [], undefined, { relays: [{ connector: "laptop", rows: [row], fresh: false }] });
  expect(stale?.entry?.liveness).toBe(Liveness.LIVENESS_UNSPECIFIED);
});

test("of a peer the configured agents are listed", () => {
  expect(addresses([], [peer("east", ["eve", "joe"])])).toEqual(["east/eve", "east/joe"]);
});

const row = (name: string, more: Partial<RelayRow> = {}): RelayRow => ({
  name,
  handle: more.main === true ? "main" : name,
  title: name,
  description: "",
  liveness: "online",
  main: false,
  ...more,
});
const rosterOf =
  (rows: readonly RelayRow[], fresh = true) =>
  (): PeerRoster => ({ rows, fingerprint: "", readAt: 0, fresh });

test("DM020 DM033 of a peer its main agent and those that it says it has are listed, by forms that reach them, in any order", () => {
  const rows = [row("zoe"), row("ann", { main: true, title: "Ann" }), row("bob", { description: "reads" })];
  const listed = listTeammates([agent("east")], [peer("east")], undefined, { rosterOf: rosterOf(rows) });
  expect(listed.map(({ address, entry }) => [address, entry?.name, entry?.title, entry?.description])).toEqual([
    ["agent:east", "east", "east", ""],
    ["east/main", "ann", "Ann", ""],
    ["east/zoe", "zoe", "", ""],
    ["east/bob", "bob", "", "reads"],
  ]);
  for (const { address, gateway } of listed.slice(1)) {
    const resolution = resolveTarget(parseTarget(address), { agents: [agent("east")], peers: [peer("east")] });
    expect(resolution).toMatchObject({ kind: "peer", peer: { name: gateway } });
  }
  const reversed = listTeammates([agent("east")], [peer("east")], undefined, {
    rosterOf: rosterOf([...rows].reverse()),
  });
  expect(new Set(reversed.map(({ address }) => address))).toEqual(new Set(listed.map(({ address }) => address)));
});

test("what the configuration names of a peer is all that is listed of it, whatever the peer says", () => {
  const rows = [row("eve", { title: "Eve" }), row("mallory")];
  const listed = listTeammates([], [peer("east", ["eve", "joe"])], undefined, { rosterOf: rosterOf(rows) });
  expect(listed.map(({ address, entry }) => [address, entry?.title])).toEqual([
    ["east/eve", "Eve"],
    ["east/joe", ""],
  ]);
});

test.each([
  [true, true, Liveness.LIVENESS_ONLINE],
  [true, false, Liveness.LIVENESS_UNSPECIFIED],
  [false, true, Liveness.LIVENESS_OFFLINE],
  [undefined, true, Liveness.LIVENESS_UNSPECIFIED],
] as const)(
  "DM091 a peer whose reach is %s, with a fresh roster %s, is shown as such",
  (reachable, fresh, liveness) => {
    const listed = listTeammates([], [peer("east")], undefined, {
      rosterOf: rosterOf([row("eve")], fresh),
      isReachable: () => reachable,
    });
    expect(listed.map(({ entry }) => entry?.liveness)).toEqual([liveness, liveness]);
  },
);
