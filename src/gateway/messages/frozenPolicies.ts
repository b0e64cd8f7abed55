import type { AgentConfig } from "../../base/config/agentConfig.js";
import { Policy } from "../../gen/talaria/types/v1/policy.js";
import { freezePolicy } from "../../owner/policy/freezePolicy.js";

/** Freezes and encodes an agent's policy, once for each reading of its configuration: a message asks for it every time. */
export function frozenPolicies(): (agent: AgentConfig) => Uint8Array {
  const known = new WeakMap<AgentConfig, Uint8Array>();
  return (agent) => {
    const encoded = known.get(agent) ?? Policy.encode(freezePolicy(agent)).finish();
    known.set(agent, encoded);
    return encoded;
  };
}
