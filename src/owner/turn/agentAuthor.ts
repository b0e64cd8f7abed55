import type { StoredAuthor } from "../../store/turns/storedAuthor.js";

/** An agent of this gateway as an author. */
export function agentAuthor(agent: string): StoredAuthor {
  return { kind: "local_agent", id: `agent:${agent}`, displayName: agent, sentBy: "" };
}
