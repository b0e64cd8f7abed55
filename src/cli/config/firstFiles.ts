/** The `talaria.yaml` of a home that `talaria init` makes: every section with its defaults, all of it comments. */
export const FIRST_CONFIG = `# Configuration of this gateway. Every line that is a comment shows its default or an example.
# Check it with: talaria config check. See what is in force with: talaria config show.

# How this gateway calls itself to its peers; by default the name of this machine.
# name: workshop

# listeners:
#   # Clients over TCP, by token (talaria tokens create NAME). Beyond this machine it needs TLS.
#   client_tcp:
#     host: 127.0.0.1
#     port: 7420
#   # Other gateways, over TLS with pinned keys (talaria peers invite).
#   peers: { host: 0.0.0.0, port: 7421 }
#   # Whether grpcurl and the like may list the services over TCP.
#   reflection_on_tcp: false

# workers:
#   pool_size: 1   # idle workers kept ready
#   max: 16        # turns that run at once; by default one per 256 MiB of memory
#   nice: 5        # how far workers stand back where processor time is short

# budgets:
#   drain_ms: 30000       # how long running turns may go on after SIGTERM
#   approval_ms: 300000   # how long an approval waits before it counts as denied

# backups: { keep: 14 }   # how many stay in the folder backups, the newest; 0, the default, keeps all

# log_level: info

# tracing:   # sends spans to a collector over OTLP
#   endpoint: http://127.0.0.1:4318/v1/traces
#   sample_ratio: 1   # share of the traces to record, 0 to 1
`;

/** The `agent.yaml` of its agent. */
export const FIRST_AGENT = `# One agent. Its folder's name is its name; instructions.md beside this file is its system prompt.
title: Main
description: Answers with the text it is given.
main: true

# echo needs no model and no key: it answers with what it is told, and obeys lines such as "!tool clock {} => noon".
runtime: echo

# A model instead: any endpoint that speaks the OpenAI API.
# runtime: openai
# model: gpt-4.1-mini
# base_url: https://api.openai.com/v1
# api_key_env: OPENAI_API_KEY
`;

/** Its `instructions.md`. */
export const FIRST_INSTRUCTIONS = `You are a helpful agent. Answer briefly.
`;
