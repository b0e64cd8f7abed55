import type { RuntimeKind } from "../../base/config/agentConfig.js";

/** Names of the runtimes, as `--runtime` takes them. */
export const RUNTIMES = ["echo", "openai", "acp", "command"] as const satisfies readonly RuntimeKind[];

const RUNTIME_PARTS: Readonly<Record<RuntimeKind, string>> = {
  echo: `# echo needs no model and no key: it answers with what it is told, and obeys lines such as "!tool clock {} => noon".
runtime: echo
`,
  openai: `# Any endpoint that speaks the OpenAI API.
runtime: openai
model: gpt-4.1-mini
base_url: https://api.openai.com/v1
# The key stays where it is: in a variable of the gateway, or in a file (api_key_file: openai.key).
api_key_env: OPENAI_API_KEY
# Tried in order when a quota refuses the model.
# fallback_models:
#   - gpt-4.1-nano
#   - { model: local, base_url: "http://localhost:8080/v1" }
# reasoning: low
`,
  acp: `# Any agent that speaks the Agent Client Protocol; it is started for each turn.
runtime: acp
worker:
  command: [my-acp-agent, --stdio]
  # env: { MY_AGENT_KEY: { env: MY_AGENT_KEY } }
`,
  command: `# Any program that speaks talaria.owner.v1; it is started for each turn.
runtime: command
worker:
  command: [python3, worker.py]
  # env: { MODE: fast }
`,
};

/** The `agent.yaml` of a folder that `talaria agents new` makes: what the runtime needs, the rest as comments. */
export function agentFile(title: string, runtime: RuntimeKind): string {
  return `# One agent. Its folder's name is its name; instructions.md beside this file is its system prompt.
# Check it with: talaria agents check. A gateway that runs reads it with: talaria reload.
title: ${JSON.stringify(title)}
description: ""

${RUNTIME_PARTS[runtime]}
# Tools that it may use; by default those of its runtime and of all its MCP servers. [] is none.
# tools: [read_file, write_file, terminal, mcp_files_*]

# MCP servers. Their tools are called mcp_<server>_<tool>.
# mcp_servers:
#   files: { command: [npx, -y, "@modelcontextprotocol/server-filesystem", .] }
#   web: { url: "https://example.org/mcp", headers: { Authorization: { file: web.header } } }

# What happens when a tool needs approval: ask, deny or allow.
# approvals: ask

# How commands of the terminal tool run.
# terminal: { sandbox: bubblewrap }

# limits:
#   turn_limit_ms: 600000
#   max_model_calls: 30
#   memory_mib: 1024

# Commands run at events of a turn, with a JSON document on standard input. A path starts at this folder.
# hooks:
#   memory_recall: [{ command: [./recall], timeout_ms: 2000 }]
#   memory_store: [{ command: [./remember] }]

# Whether it is left out of rosters, and whether it sends and takes messages.
# private: false
# messaging: true
`;
}

/** Its `instructions.md`. */
export const INSTRUCTIONS_FILE = `You are a helpful agent. Answer briefly.
`;
