import type { AgentConfig } from "../../base/config/agentConfig.js";
import { digestOf } from "../../base/digest.js";

/**
 * Tells two configurations of an agent apart, 64 hex characters. Values that may be secret are no part of it: they are read for each
 * turn, and a digest that is stored must not let anybody try guesses of them.
 */
export function configurationDigest(agent: AgentConfig): string {
  const text = JSON.stringify(agent, (_key, value: unknown) => (isValue(value) ? { kind: "value" } : value));
  return digestOf([text]);
}

function isValue(value: unknown): boolean {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "value";
}
