/** Names of the credentials in a bootstrap, as the policy of a session refers to them. Source: policy.proto. */
export const CREDENTIAL_NAMES = Object.freeze({
  /** Opens the agent's own model endpoint. */
  model: "model",
  /** Opens the endpoint of a fallback, counted from 1, that has a key of its own. */
  fallback: (number: number): string => `fallback/${String(number)}`,
  /** A variable of an MCP server on stdio. */
  mcpVariable: (server: string, name: string): string => `mcp/${server}/env/${name}`,
  /** A header of an MCP server over HTTP. */
  mcpHeader: (server: string, name: string): string => `mcp/${server}/header/${name}`,
  /** A variable of the agent that the `acp` runtime drives. */
  agentVariable: (name: string): string => `agent/env/${name}`,
});
