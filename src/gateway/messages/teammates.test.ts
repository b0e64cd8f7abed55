import { expect, test } from "vitest";

import type { AgentEntry, PeerEntry } from "../../dm/ports/directory.js";
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
  const listed = listTeammates([agent("ada")], [], undefined, relays);
  expect(listed.map(({ address, gateway, entry }) => [address, gateway, entry?.liveness])).toEqual([
    ["ada", "", Liveness.LIVENESS_ONLINE],
    ["dana@laptop", "laptop", Liveness.LIVENESS_OFFLINE],
  ]);
  const [stale] = listTeammates([], [], undefined, [{ connector: "laptop", rows: [row], fresh: false }]);
  expect(stale?.entry?.liveness).toBe(Liveness.LIVENESS_UNSPECIFIED);
});

test("of a peer the configured agents are listed", () => {
  expect(addresses([], [peer("east", ["eve", "joe"])])).toEqual(["east/eve", "east/joe"]);
});
