import { statSync } from "node:fs";

import type { AgentConfig, ModelConfig, SecretSource } from "../../base/config/agentConfig.js";
import { readPlainFile } from "../../base/readPlainFile.js";
import { type Finding, ok, problem, skipped, warning } from "./finding.js";
import { codeOf } from "./machineChecks.js";

/** How long an endpoint may take to answer, milliseconds. */
const ENDPOINT_TIMEOUT_MS = 5_000;
/** Longest key that is tried, bytes. */
const KEY_BYTES = 65_536;

/** Whether the keys and commands that agents name are there. */
export function checkAgents(agents: readonly AgentConfig[], env: NodeJS.ProcessEnv): readonly Finding[] {
  return agents.flatMap((agent): readonly Finding[] => {
    const findings = modelsOf(agent).flatMap((model): readonly Finding[] => {
      const found = model.apiKey === undefined ? undefined : secretProblem(agent.name, model.apiKey, env);
      return found === undefined ? [] : [found];
    });
    return findings.length > 0 ? findings : [ok("agents", `${agent.name}: ${agent.runtime}`)];
  });
}

function modelsOf({ model, fallbackModels }: AgentConfig): readonly ModelConfig[] {
  return [...(model === undefined ? [] : [model]), ...fallbackModels];
}

function secretProblem(agent: string, source: SecretSource, env: NodeJS.ProcessEnv): Finding | undefined {
  switch (source.kind) {
    case "value":
      return undefined;
    case "env":
      if (env[source.name]) return undefined;
      return warning(
        "agents",
        `${agent}: the variable ${source.name} with its API key is not set here.`,
        `Set ${source.name} where the gateway is started.`,
      );
    case "file": {
      const stat = statSync(source.path, { throwIfNoEntry: false });
      if (stat === undefined)
        return problem("agents", `${agent}: there is no file ${source.path}.`, "Put the API key there.");
      if ((stat.mode & 0o077) !== 0) {
        return warning("agents", `${agent}: others may read ${source.path}.`, `chmod 600 ${source.path}`);
      }
      return undefined;
    }
  }
}

/** Whether the endpoints of the agents' models answer, and take the agents' keys. */
export async function checkEndpoints(
  agents: readonly AgentConfig[],
  env: NodeJS.ProcessEnv,
  request: typeof fetch = fetch,
): Promise<readonly Finding[]> {
  const seen = new Set<string>();
  const findings: Finding[] = [];
  for (const agent of agents) {
    for (const { baseUrl, apiKey } of modelsOf(agent)) {
      const key = apiKey === undefined ? "" : (secretOf(apiKey, env) ?? "");
      if (baseUrl === "" || seen.has(`${baseUrl} ${key}`)) continue;
      seen.add(`${baseUrl} ${key}`);
      findings.push(await checkEndpoint(agent.name, baseUrl, key, request));
    }
  }
  return findings.length === 0 ? [skipped("endpoints", "No agent names a model endpoint.")] : findings;
}

async function checkEndpoint(agent: string, baseUrl: string, key: string, request: typeof fetch): Promise<Finding> {
  const url = `${baseUrl.replace(/\/+$/, "")}/models`;
  try {
    const { status } = await request(url, {
      headers: key === "" ? {} : { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(ENDPOINT_TIMEOUT_MS),
    });
    if (status === 401 || status === 403) {
      return problem(
        "endpoints",
        `${agent}: ${baseUrl} refuses the API key (${String(status)}).`,
        "Correct its api_key.",
      );
    }
    if (status >= 500) {
      return warning("endpoints", `${agent}: ${baseUrl} answers ${String(status)}.`, "Look at that server, or wait.");
    }
    return ok("endpoints", `${agent}: ${baseUrl} answers`);
  } catch (error) {
    const why = codeOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
    return problem(
      "endpoints",
      `${agent}: ${baseUrl} does not answer: ${why}.`,
      "Check base_url, and that the server runs.",
    );
  }
}

function secretOf(source: SecretSource, env: NodeJS.ProcessEnv): string | undefined {
  if (source.kind === "value") return source.value;
  if (source.kind === "env") return env[source.name];
  try {
    const file = readPlainFile(source.path, KEY_BYTES);
    return file.kind === "read" ? file.bytes.toString("utf8").trimEnd() : undefined;
  } catch {
    return undefined;
  }
}
