import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { AgentEntry, PeerEntry } from "../ports/directory.js";
import type { RelayRow } from "../relay/relayRow.js";
import { localAddress, peerAddress } from "./addressForms.js";
import { aliasForms } from "./aliasForms.js";
import { MAIN, resolveTarget, type Neighbourhood } from "./resolveTarget.js";
import { parseTarget } from "./targetGrammar.js";

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

describe("the grammar", () => {
  test.each([
    ["", { kind: "empty" }],
    [" @@ ", { kind: "empty" }],
    ["@bob", { kind: "bare", text: "bob" }],
    [" Code Reviewer ", { kind: "bare", text: "Code Reviewer" }],
    ["agent:Bob", { kind: "local", name: "bob" }],
    ["agent:", { kind: "invalid" }],
    ["south/Bob", { kind: "peerAgent", peer: "south", agent: "Bob" }],
    ["south/Code Reviewer", { kind: "peerAgent", peer: "south", agent: "Code Reviewer" }],
    ["south/", { kind: "invalid" }],
    ["south/ bob", { kind: "invalid" }],
    ["South/bob", { kind: "invalid" }],
    ["a/b/c", { kind: "invalid" }],
    ["bob@laptop", { kind: "connection", handle: "bob", connection: "laptop" }],
    ["bob@", { kind: "invalid" }],
    ["b\nob", { kind: "invalid" }],
    ["x".repeat(201), { kind: "invalid" }],
    ["south/../bob", { kind: "invalid" }],
    ["../bob", { kind: "invalid" }],
  ])("DM101 reads %j", (typed, parsed) => {
    expect(parseTarget(typed)).toEqual(parsed);
  });

  test("takes any text without throwing", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (typed) => {
        expect(parseTarget(typed).kind).toBeTypeOf("string");
      }),
    );
  });
});

describe("a resolution", () => {
  const home: Neighbourhood = {
    agents: [
      agent("ann", { main: true, title: "Boss" }),
      agent("bob", { title: "Code Reviewer" }),
      agent("cat", { title: "code-reviewer" }),
      agent("dan", { title: "ann" }),
      agent("east", {}),
      agent("ghost", { private: true, title: "Phantom" }),
    ],
    peers: [peer("east"), peer("west", ["eve"]), peer("boss")],
  };
  const meaning = (typed: string): string => {
    const resolution = resolveTarget(parseTarget(typed), home);
    switch (resolution.kind) {
      case "local":
        return `agent:${resolution.agent.name}`;
      case "peer":
        return `${resolution.peer.name}/${resolution.agent}`;
      case "ambiguous":
        return `ambiguous ${resolution.forms.join(" ")}`;
      default:
        return resolution.kind;
    }
  };

  test.each([
    ["BOB", "agent:bob"],
    ["main", "agent:ann"],
    ["agent:main", "agent:ann"],
    ["ann", "agent:ann"],
    ["code reviewer", "ambiguous agent:bob agent:cat"],
    ["west", "west/main"],
    ["west/eve", "west/eve"],
    ["west/joe", "unknown"],
    ["east", "ambiguous agent:east east/main"],
    ["agent:east", "agent:east"],
    ["east/main", "east/main"],
    ["boss", "ambiguous agent:ann boss/main"],
    ["ghost", "unknown"],
    ["phantom", "unknown"],
    ["agent:ghost", "unknown"],
    ["north/x", "unknownPeer"],
    ["bob@laptop", "unknown"],
  ])("of %j is %s", (typed, expected) => {
    expect(meaning(typed)).toBe(expected);
  });
});

describe("a friendly name of a peer's agent", () => {
  const row = (name: string, title: string, main = false): RelayRow => ({
    name,
    handle: main ? MAIN : name,
    title,
    description: "",
    liveness: "online",
    main,
  });
  const rows = [
    row("ann", "The Boss", true),
    row("bob", "Code Reviewer"),
    row("cat", "Twin"),
    row("dan", "TWIN"),
    row("eve", "bob"),
    row("fay", "Night Scribe"),
  ];
  const meaning = (typed: string, entry: PeerEntry = peer("south"), known: readonly RelayRow[] = rows) => {
    const rosterOf = (name: string) => (name === "south" ? { rows: known } : undefined);
    const resolution = resolveTarget(parseTarget(typed), { agents: [], peers: [entry, peer("west")], rosterOf });
    if (resolution.kind === "peer") return `${resolution.peer.name}/${resolution.agent}`;
    return resolution.kind === "ambiguous" ? `ambiguous ${resolution.forms.join(" ")}` : resolution.kind;
  };

  test.each([
    ["south/code-reviewer", "south/bob"],
    ["south/codereviewer", "south/bob"],
    ["@south/Code Reviewer", "south/bob"],
    ["south/the-boss", "south/main"],
    ["south/Main", "south/main"],
    // A name goes before a friendly name.
    ["south/bob", "south/bob"],
    ["south/Twin", "ambiguous south/cat south/dan"],
    ["south/cat", "south/cat"],
    // The peer may have got an agent since it said what it has.
    ["south/gil", "south/gil"],
    ["south/Nobody There", "unknown"],
    // Nothing is known of this one.
    ["west/code-reviewer", "west/code-reviewer"],
    ["west/Code Reviewer", "unknown"],
  ])("%j means %s", (typed, expected) => {
    expect(meaning(typed)).toBe(expected);
  });

  test("reaches no agent that may not be written to", () => {
    const some = peer("south", ["fay", "code-reviewer"]);
    expect(meaning("south/night-scribe", some)).toBe("south/fay");
    expect(meaning("south/codereviewer", some)).toBe("unknown");
    // It is allowed under this very name.
    expect(meaning("south/code-reviewer", some)).toBe("south/code-reviewer");
    expect(meaning("south/the boss", some)).toBe("south/main");
    expect(meaning("south/gil", some)).toBe("unknown");
  });

  test("that is printed as a form means the agent that it was printed for", () => {
    for (const { name, main } of rows) {
      const agentName = main ? MAIN : name;
      expect(meaning(peerAddress(peer("south"), agentName, { agents: [], peers: [peer("south")] }))).toBe(
        `south/${agentName}`,
      );
    }
  });
});

describe("a friendly name", () => {
  const agents = [
    agent("ann", { main: true, title: "Boss" }),
    agent("bob", { title: "Code & Reviews!" }),
    agent("cat", { title: "Twin" }),
    agent("dan", { title: "TWIN" }),
    agent("eve", { title: "Main" }),
    agent("default", { title: "Default" }),
  ];
  const resolve = (typed: string) => resolveTarget(parseTarget(typed), { agents, peers: [] });

  test.each(["Code & Reviews!", "code-reviews", "codereviews", "@Code-Reviews", "bob"])(
    "DM012 with punctuation is meant by %j",
    (typed) => {
      expect(resolve(typed)).toMatchObject({ kind: "local", agent: { name: "bob" } });
    },
  );

  test("DM013 that two agents bear means neither, with a form for each", () => {
    expect(resolve("Twin")).toEqual({ kind: "ambiguous", forms: ["agent:cat", "agent:dan"] });
    for (const name of ["cat", "dan"]) expect(resolve(`agent:${name}`)).toMatchObject({ agent: { name } });
  });

  test("DM014 like the reserved word does not take it from the main agent", () => {
    for (const typed of ["main", "Main", "@main"]) expect(resolve(typed)).toMatchObject({ agent: { name: "ann" } });
  });

  test("DM015 DM-R40 of the main agent reaches it beside its reserved word", () => {
    for (const typed of ["Boss", "@main", "ann"]) expect(resolve(typed)).toMatchObject({ agent: { name: "ann" } });
  });

  test("DM016 DM-R39 of an agent whose folder is called default takes nothing from the main agent", () => {
    expect(resolve("default")).toMatchObject({ agent: { name: "default" } });
    expect(resolve("main")).toMatchObject({ agent: { name: "ann" } });
    expect(agents.map((entry) => localAddress(entry, { agents, peers: [] }))).toEqual(agents.map(({ name }) => name));
  });
});

test("DM019 DM-R33 every form that is printed means the agent that it was printed for, whatever the order of the rosters", () => {
  const name = fc.stringMatching(/^[a-c][a-c_-]{0,2}$/);
  const title = fc.oneof(name, fc.string({ maxLength: 6 }), fc.constant("Ab C"));
  const neighbourhoods = fc.record({
    agents: fc.uniqueArray(
      fc.record({ name: fc.oneof(name, fc.constant(MAIN)), title }).map((entry) => agent(entry.name, entry)),
      { selector: (entry) => entry.name, minLength: 1, maxLength: 5 },
    ),
    peers: fc.uniqueArray(
      name.map((one) => peer(one)),
      { selector: (entry) => entry.name, maxLength: 4 },
    ),
  });
  fc.assert(
    fc.property(neighbourhoods, fc.nat(4), ({ agents: drawn, peers }, mainIndex) => {
      const agents = drawn.map((entry, index) => ({ ...entry, main: index === mainIndex % drawn.length }));
      const forward = { agents, peers };
      const backward = { agents: [...agents].reverse(), peers: [...peers].reverse() };
      for (const entry of agents) {
        const form = localAddress(entry, forward);
        expect(localAddress(entry, backward)).toBe(form);
        expect(resolveTarget(parseTarget(form), backward)).toMatchObject({
          kind: "local",
          agent: { name: entry.name },
        });
      }
      for (const entry of peers) {
        const form = peerAddress(entry, MAIN, forward);
        expect(peerAddress(entry, MAIN, backward)).toBe(form);
        expect(resolveTarget(parseTarget(form), backward)).toMatchObject({ kind: "peer", peer: { name: entry.name } });
      }
    }),
  );
});

test("an alias is a word of the grammar, and never a reserved one", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      for (const form of aliasForms(text)) expect(form).toMatch(/^[a-z0-9][a-z0-9_-]*$/);
    }),
  );
  expect(aliasForms("Everyone")).toEqual([]);
  expect(aliasForms("日本")).toEqual([]);
  expect(aliasForms("Code Reviewer!")).toEqual(["code-reviewer", "codereviewer"]);
});
