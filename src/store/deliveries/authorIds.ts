/** Canonical identity of an agent as an author: `agent:<name>` here, `agent:<gateway>/<name>` elsewhere. */
export function agentAuthorId(gateway: string, agent: string): string {
  return gateway === "" ? `agent:${agent}` : `agent:${gateway}/${agent}`;
}

/**
 * What an agent can be answered at: `name` here, `gateway/name` elsewhere, `name@connector` behind a relay connector.
 * @param relay whether `gateway` is a connector
 */
export function agentHandle(gateway: string, agent: string, relay = false): string {
  if (gateway === "") return agent;
  return relay ? `${agent}@${gateway}` : `${gateway}/${agent}`;
}
