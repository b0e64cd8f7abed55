import { readFileSync } from "node:fs";

import type { AgentConfig } from "../../base/config/agentConfig.js";
import type { SecretRegistry } from "../../base/secretRegistry.js";
import { RpcError } from "../../rpc/rpcError.js";

/** A secret that a worker is given for its turn. Never stored. */
export interface Credential {
  /** Name that the policy refers to. */
  readonly name: string;
  readonly secret: string;
}

/** Name of the credential that opens an agent's own model endpoint. */
export const MODEL_CREDENTIAL = "model";

/**
 * Reads an agent's API key where its configuration says it is kept, and hides it from every log from here on.
 * @throws RpcError RUNTIME_CONFIG where it is named and cannot be had.
 */
export function resolveCredentials(
  agent: AgentConfig,
  environment: Readonly<Record<string, string | undefined>>,
  secrets: SecretRegistry,
): readonly Credential[] {
  const secret = readKey(agent, environment);
  if (secret === undefined) return [];
  secrets.add(secret);
  return [{ name: MODEL_CREDENTIAL, secret }];
}

function readKey(agent: AgentConfig, environment: Readonly<Record<string, string | undefined>>): string | undefined {
  if (agent.apiKeyFile !== undefined) {
    try {
      return readFileSync(agent.apiKeyFile, "utf8").trim();
    } catch (cause) {
      throw new RpcError("RUNTIME_CONFIG", { message: `The API key file of ${agent.name} cannot be read.`, cause });
    }
  }
  if (agent.apiKeyEnv === undefined) return undefined;
  const value = environment[agent.apiKeyEnv];
  if (value === undefined || value === "") {
    throw new RpcError("RUNTIME_CONFIG", { message: `The variable ${agent.apiKeyEnv} of ${agent.name} is not set.` });
  }
  return value;
}
