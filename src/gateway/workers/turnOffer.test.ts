import { expect, test } from "vitest";

import type { AgentEntry, PeerEntry } from "../../dm/ports/directory.js";
import { turnOffer } from "./turnOffer.js";

const agent = (name: string, more: Partial<AgentEntry> = {}): AgentEntry => ({
  name,
  title: "",
  description: "",
  main: false,
  private: false,
  messaging: true,
  ...more,
});

function offer(name: string, botChat: boolean, enabled = true, peers: readonly PeerEntry[] = []) {
  const agents = [agent("ada"), agent("bob", { description: "writes tests" }), agent("mute", { messaging: false })];
  const context = {
    agents: { list: () => agents, get: (wanted: string) => agents.find((one) => one.name === wanted) },
    config: { dm: { enabled } },
    peers: { list: () => peers },
  } as unknown as Parameters<typeof turnOffer>[0];
  return turnOffer(context, name, botChat);
}

test("DM001 DM-R47 a Bot Chat of an agent with messaging gets each tool once and the roster, the same in every turn", () => {
  const first = offer("ada", true);
  expect(first.tools.map(({ name }) => name)).toEqual(["message_agent", "check_delivery"]);
  expect(first.rosterInstructions).toContain("- `bob`: writes tests");
  expect(first.rosterInstructions).not.toContain("`ada`");
  expect(first.rosterFingerprint).toMatch(/^[0-9a-f]{12}$/);
  expect(JSON.stringify(offer("ada", true))).toBe(JSON.stringify(first));
  expect(offer("ada", true, true, [{ name: "east", address: "x:1", pin: "" }]).rosterFingerprint).not.toBe(
    first.rosterFingerprint,
  );
});

test.each([
  ["DM002 another session", "ada", false, true],
  ["DM003 a home without messages", "ada", true, false],
  ["DM004 an agent without messaging", "mute", true, true],
  ["an agent that is not there", "nobody", true, true],
])("%s is offered nothing", (_, name, botChat, enabled) => {
  expect(offer(name, botChat, enabled)).toEqual({ tools: [], rosterInstructions: "", rosterFingerprint: "" });
});
