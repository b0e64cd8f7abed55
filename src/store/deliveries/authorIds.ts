/** Canonical identity of an agent as an author: `agent:<name>` here, `agent:<gateway>/<name>` elsewhere. */
export function agentAuthorId(gateway: string, agent: string): string {
  return gateway === "" ? `agent:${agent}` : `agent:${gateway}/${agent}`;
}

/** What an agent can be answered at, for people: `name` here, `gateway/name` elsewhere. */
export function agentHandle(gateway: string, agent: string): string {
  return gateway === "" ? agent : `${gateway}/${agent}`;
}
