import type { AgentConfig, SecretSource } from "../../base/config/agentConfig.js";
import type { SecretRegistry } from "../../base/secretRegistry.js";
import type { Policy } from "../../gen/talaria/types/v1/policy.js";
import { CREDENTIAL_NAMES } from "./credentialNames.js";
import { readSecret } from "./readSecret.js";

/** A secret that a worker is given for its turn. Never stored. */
export interface Credential {
  /** Name that the policy refers to. */
  readonly name: string;
  readonly secret: string;
}

/**
 * Reads the values that a session's policy names, where the agent's configuration says they are kept, and hides them from every log
 * from here on. What the configuration holds and the policy does not name is not read; what the policy names and the configuration
 * does not hold any more is left out.
 * @throws RpcError RUNTIME_CONFIG where a value is named and cannot be had.
 */
export function resolveCredentials(
  agent: AgentConfig,
  policy: Policy,
  environment: Readonly<Record<string, string | undefined>>,
  secrets: SecretRegistry,
): readonly Credential[] {
  const wanted = namesOf(policy);
  return sourcesOf(agent).flatMap(({ name, what, source }) => {
    if (!wanted.has(name)) return [];
    const secret = readSecret(source, environment, what);
    secrets.add(secret);
    return [{ name, secret }];
  });
}

/** The credentials that a policy refers to. */
function namesOf(policy: Policy): ReadonlySet<string> {
  const { model, fallbackModels, mcpServers, agentEnvironmentNames } = policy;
  return new Set([
    ...(model === undefined ? [] : [model.credential]),
    ...fallbackModels.map(({ credential }) => credential),
    ...mcpServers.flatMap(({ name, environmentNames, headerNames }) => [
      ...environmentNames.map((variable) => CREDENTIAL_NAMES.mcpVariable(name, variable)),
      ...headerNames.map((header) => CREDENTIAL_NAMES.mcpHeader(name, header)),
    ]),
    ...agentEnvironmentNames.map((variable) => CREDENTIAL_NAMES.agentVariable(variable)),
  ]);
}

interface NamedSource {
  readonly name: string;
  /** For people. */
  readonly what: string;
  readonly source: SecretSource;
}

function sourcesOf(agent: AgentConfig): readonly NamedSource[] {
  const of = (name: string, what: string, source: SecretSource | undefined): readonly NamedSource[] =>
    source === undefined ? [] : [{ name, what: `${what} of ${agent.name}`, source }];
  return [
    ...of(CREDENTIAL_NAMES.model, "The API key", agent.model?.apiKey),
    ...agent.fallbackModels.flatMap(({ apiKey }, index) =>
      of(CREDENTIAL_NAMES.fallback(index + 1), `The API key of fallback ${String(index + 1)}`, apiKey),
    ),
    ...Object.entries(agent.mcpServers).flatMap(([server, { env, headers }]) => [
      ...Object.entries(env).flatMap(([name, source]) =>
        of(CREDENTIAL_NAMES.mcpVariable(server, name), `The variable ${name} of the MCP server ${server}`, source),
      ),
      ...Object.entries(headers).flatMap(([name, source]) =>
        of(CREDENTIAL_NAMES.mcpHeader(server, name), `The header ${name} of the MCP server ${server}`, source),
      ),
    ]),
    ...Object.entries(agent.workerEnv).flatMap(([name, source]) =>
      of(CREDENTIAL_NAMES.agentVariable(name), `The variable ${name}`, source),
    ),
  ];
}
