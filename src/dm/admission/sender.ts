import { LIMITS } from "../../base/limits.js";
import { reasonError } from "../../rpc/rpcError.js";
import { agentAuthorId, agentHandle } from "../../store/deliveries/authorIds.js";
import type { StoredAuthor, StoredAuthorKind } from "../../store/turns/storedAuthor.js";
import { localAddress } from "../addresses/addressForms.js";
import type { Neighbourhood } from "../addresses/resolveTarget.js";
import type { AgentEntry } from "../ports/directory.js";
import { displayText } from "./displayText.js";
import type { Origin } from "./origin.js";

/** A sender as everything behind the door knows it. */
export interface Sender {
  readonly author: StoredAuthor;
  /** Whose keys the message's key is unique among. */
  readonly scope: string;
  /** Line that names it in the recipient's session. */
  readonly attribution: string;
  /** The agent of this gateway that it is, where it is one. */
  readonly agent?: AgentEntry;
}

/**
 * Derives the author from who brought the message; nothing that the message says takes part, but a peer's name for its own
 * agent.
 * @throws RpcError UNKNOWN_AGENT or MESSAGING_DISABLED for a sending agent of this gateway.
 */
export function deriveSender(origin: Origin, neighbourhood: Neighbourhood): Sender {
  switch (origin.kind) {
    case "client": {
      const scope = `client:${origin.principal}`;
      if (origin.onBehalfOf !== undefined) {
        return localAgent(origin.onBehalfOf, scope, scope, neighbourhood);
      }
      const displayName = displayText(origin.principal, LIMITS.displayNameCodePoints);
      const author: StoredAuthor = { kind: "client", id: scope, displayName, sentBy: "" };
      return { author, scope, attribution: `Message from ${displayName} (client):` };
    }
    case "agent":
      return localAgent(origin.agent, `agent:${origin.agent}`, "", neighbourhood);
    case "peer":
      return remoteSender(origin);
  }
}

/** Scope of the keys that a peer or connector gives. */
export function remoteScope(name: string, relay: boolean): string {
  return relay ? `relay:${name}` : `peer:${name}`;
}

function localAgent(name: string, scope: string, sentBy: string, neighbourhood: Neighbourhood): Sender {
  const agent = neighbourhood.agents.find((entry) => entry.name === name);
  if (agent === undefined) throw reasonError("UNKNOWN_AGENT", { agent: displayText(name, 64) });
  if (!agent.messaging) throw reasonError("MESSAGING_DISABLED");
  const displayName = displayText(agent.title, LIMITS.displayNameCodePoints);
  const handle = agent.private ? agent.name : localAddress(agent, neighbourhood);
  return {
    author: { kind: "local_agent", id: agentAuthorId("", name), displayName, sentBy },
    scope,
    attribution: `Message from ${displayName} (@${handle}):`,
    agent,
  };
}

function remoteSender({ peer, relay, agent, title }: Extract<Origin, { kind: "peer" }>): Sender {
  const scope = remoteScope(peer, relay);
  const kind: StoredAuthorKind = relay ? "relay_agent" : "peer_agent";
  const shown = displayText(title, 120);
  if (agent === "") {
    const displayName = shown === "" ? `a client of ${peer}` : shown;
    return {
      author: { kind, id: `client:${relay ? "relay" : "peer"}/${peer}`, displayName, sentBy: "" },
      scope,
      attribution: `Message from ${displayName} (client of ${peer}):`,
    };
  }
  const displayName = shown === "" ? agent : shown;
  return {
    author: { kind, id: agentAuthorId(peer, agent), displayName, sentBy: "" },
    scope,
    attribution: `Message from ${displayName} (@${agentHandle(peer, agent, relay)}):`,
  };
}
