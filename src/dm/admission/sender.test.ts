import { describe, expect, test } from "vitest";

import type { AgentEntry } from "../ports/directory.js";
import type { Origin } from "./origin.js";
import { deriveSender } from "./sender.js";

const agent = (name: string, title: string): AgentEntry => ({
  name,
  title,
  description: "",
  main: false,
  private: false,
  messaging: true,
});
const neighbourhood = { agents: [agent("bob", "Code Reviewer")], peers: [] };
const derive = (origin: Origin) => deriveSender(origin, neighbourhood);
const remote = (more: Partial<Extract<Origin, { kind: "peer" }>>): Origin => ({
  kind: "peer",
  peer: "north",
  relay: false,
  agent: "ann",
  title: "",
  expiresAt: 0,
  attemptEpoch: 1,
  attempt: 1,
  hops: [],
  ...more,
});

describe("a sender", () => {
  test("DM022 DM024 DM-R43 of this gateway is shown by its title, and its id and handle stay", () => {
    expect(derive({ kind: "agent", agent: "bob", sessionId: "ses_1", startedBy: "" })).toMatchObject({
      author: { kind: "local_agent", id: "agent:bob", displayName: "Code Reviewer", sentBy: "" },
      attribution: "Message from Code Reviewer (@bob):",
    });
  });

  test("DM024 DM-R43 of a peer has the name that this gateway gave the peer in its id", () => {
    expect(derive(remote({ title: "An\u0000n\n\u202e" }))).toMatchObject({
      author: { kind: "peer_agent", id: "agent:north/ann", displayName: "Ann" },
      attribution: "Message from Ann (@north/ann):",
    });
  });

  test("DM025 DM-R43 behind a connector has its name in its id, and without an agent is a client there", () => {
    const relay = { peer: "local", relay: true } as const;
    expect(derive(remote(relay)).author).toMatchObject({ kind: "relay_agent", id: "agent:local/ann" });
    expect(derive(remote({ ...relay, agent: "" })).author).toMatchObject({ id: "client:relay/local" });
  });

  test("DM026 without a title is shown by its name", () => {
    expect(derive(remote({ title: " \u0000 " })).author.displayName).toBe("ann");
  });

  test("DM032 DM-R43 that is a client keeps its own id, also where it sends as an agent", () => {
    expect(derive({ kind: "client", principal: "desk" }).author).toMatchObject({ kind: "client", id: "client:desk" });
    expect(derive({ kind: "client", principal: "desk", onBehalfOf: "bob" }).author).toMatchObject({
      id: "agent:bob",
      sentBy: "client:desk",
    });
  });
});
