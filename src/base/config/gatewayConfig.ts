import { z } from "zod";

import type { Budgets } from "../budgets.js";
import { budgetOverridesSchema, resolveBudgets } from "../budgets.js";
import { checkBudgets } from "../checkBudgets.js";
import { isName } from "../ids.js";
import { loadYaml } from "./loadYaml.js";
import type { Machine } from "./machine.js";
import { defaultWorkerCap, gatewayNameFrom, thisMachine } from "./machine.js";

/** A host and port to listen on. */
export interface ListenAddress {
  /** Address or host name. */
  readonly host: string;
  /** TCP port; 0 takes a free one. */
  readonly port: number;
}

/** Where clients over TCP are listened for. */
export interface ClientListenAddress extends ListenAddress {
  /**
   * Turns TLS on; required beyond this machine. With neither file, the home's identity key answers for it and clients pin that;
   * relative paths start at the home.
   */
  readonly tls?: {
    /** PEM file with the certificate and those between it and its authority. */
    readonly cert?: string;
    /** PEM file with its private key, mode 0600. */
    readonly key?: string;
  };
}

/** A peer as configured. */
export interface PeerConfig {
  /** `host:port` of its peer listener; empty for a connector. */
  readonly address: string;
  /** Whether it is a relay connector: a machine that cannot be dialled and comes to us; absent = it is not. */
  readonly connector?: true;
  /** SHA-256 of its identity key's public part, base64 or hex. */
  readonly pin: string;
  /** Names of the peer's agents that may be addressed; absent = all that it lists. */
  readonly agents?: readonly string[];
  /** Names of the agents here that it may reach; absent = all that are not private. */
  readonly grants?: readonly string[];
}

/** Tracing as configured. */
export interface TracingConfig {
  /** URL of a collector's OTLP endpoint for traces over HTTP. */
  readonly endpoint: string;
  /** Share of the traces that begin here that are recorded, 0 to 1; what a caller records is recorded in any case. */
  readonly sampleRatio: number;
}

/** A gateway's configuration with every default filled in. */
export interface GatewayConfig {
  /** How this gateway calls itself. */
  readonly name: string;
  /** Where sockets live; absent = `run/` in the home. */
  readonly runDir?: string;
  /** What is listened on besides the Unix sockets. */
  readonly listeners: {
    /** Clients over TCP; absent = off. */
    readonly clientTcp?: ClientListenAddress;
    /** Peers and connectors over TLS; absent = off. */
    readonly peers?: ListenAddress;
    /** Metrics over HTTP; absent = off. */
    readonly metrics?: ListenAddress;
    /** Whether TCP listeners offer reflection. */
    readonly reflectionOnTcp: boolean;
  };
  /** Worker processes. */
  readonly workers: {
    /** Idle workers kept ready. */
    readonly poolSize: number;
    /** Turns that run at once. */
    readonly max: number;
    /** How far they stand back behind the gateway where processor time is short, 0 to 19. */
    readonly nice: number;
  };
  /** The budget table with overrides. */
  readonly budgets: Budgets;
  /** What `talaria backup` leaves in the home. */
  readonly backups: {
    /** How many of them are kept, the newest; 0 = all. */
    readonly keep: number;
  };
  /** Direct messages. */
  readonly dm: {
    /** Whether messages are accepted and sent at all. */
    readonly enabled: boolean;
  };
  /** Peers by name. */
  readonly peers: Readonly<Record<string, PeerConfig>>;
  /** Command and arguments run when a prompt or reply waits for a person; absent = none. */
  readonly notifyCommand?: readonly string[];
  /** Least severe log level written. */
  readonly logLevel: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  /** File of hashed client tokens for TCP; absent = `client-tokens.yaml` in the home. */
  readonly clientTokensFile?: string;
  /** Where spans are sent; absent = nothing is traced. */
  readonly tracing?: TracingConfig;
}

const name = z.string().refine(isName, "must match [a-z0-9][a-z0-9_-]{0,63}");
const text = z.string().min(1);
const address = (host: string, port: number) =>
  z.strictObject({
    host: text.default(host).describe("Address or host name to listen on."),
    port: z.int().min(0).max(65_535).default(port).describe("TCP port; 0 takes a free one."),
  });
const clientTls = z
  .strictObject({
    cert: text
      .optional()
      .describe(
        "PEM file with the certificate and those between it and its authority. With neither file the home's identity key answers, and clients pin that.",
      ),
    key: text.optional().describe("PEM file with its private key, mode 0600."),
  })
  .superRefine(({ cert, key }, context) => {
    if ((cert === undefined) === (key === undefined)) return;
    const [missing, given] = cert === undefined ? ["cert", "key"] : ["key", "cert"];
    context.addIssue({ code: "custom", path: [missing], message: `is required beside ${given}` });
  });
const hostAndPort = z.string().regex(/^(?:\[[0-9a-fA-F:.]+\]|[^\s:[\]]+):[0-9]{1,5}$/, "must be host:port");

/** Where a collector on this machine listens by default. Source: OTLP specification, OTLP/HTTP default port. */
const COLLECTOR = "http://127.0.0.1:4318/v1/traces";

/** `talaria.yaml`, as written. What each key means is said here; docs/configuration.md is generated from it. */
export const gatewayConfigSchema = z.strictObject({
  name: name.optional().describe("How this gateway calls itself to its peers; default the machine's name."),
  run_dir: text
    .optional()
    .describe("Folder of the sockets, from the home; default `run`. A socket's path may have 100 bytes at most."),
  listeners: z
    .strictObject({
      client_tcp: address("127.0.0.1", 7420)
        .extend({ tls: clientTls.optional().describe("TLS for clients; required beyond this machine.") })
        .optional()
        .describe("Clients over TCP, by token; off where it is left out."),
      peers: address("0.0.0.0", 7421)
        .optional()
        .describe("Other gateways and connectors, over TLS with pinned keys; off where it is left out."),
      metrics: address("127.0.0.1", 7422)
        .optional()
        .describe("Prometheus metrics over HTTP; off where it is left out."),
      reflection_on_tcp: z
        .boolean()
        .default(false)
        .describe("Whether the TCP listeners list their services to tools such as grpcurl."),
    })
    .prefault({}),
  workers: z
    .strictObject({
      pool_size: z.int().min(0).max(64).default(1).describe("Idle workers that are kept ready."),
      max: z
        .int()
        .min(1)
        .max(1_024)
        .optional()
        .describe("Turns that run at once; default one for each 256 MiB, at most 64."),
      nice: z
        .int()
        .min(0)
        .max(19)
        .default(5)
        .describe("How far workers stand back behind the gateway where processor time is short, as nice(1) counts."),
    })
    .prefault({}),
  budgets: budgetOverridesSchema
    .superRefine((overrides, context) => {
      for (const { key, problem } of checkBudgets(resolveBudgets(overrides))) {
        context.addIssue({ code: "custom", path: [key], message: problem });
      }
    })
    .prefault({}),
  backups: z
    .strictObject({
      keep: z
        .int()
        .min(0)
        .max(10_000)
        .default(0)
        .describe(
          "How many backups stay in the home's folder `backups`, the newest: an older one goes when one is made. 0 keeps all.",
        ),
    })
    .prefault({}),
  dm: z
    .strictObject({
      enabled: z.boolean().default(true).describe("Whether direct messages are accepted and sent at all."),
    })
    .prefault({}),
  peers: z
    .record(
      name,
      z
        .strictObject({
          address: hostAndPort
            .optional()
            .describe("`host:port` of its peer listener; left out for a connector, required for any other peer."),
          connector: z
            .boolean()
            .default(false)
            .describe("Whether it is a relay connector: a machine that cannot be dialled and comes to us."),
          pin: text.describe("Pin of its identity key, as `talaria pin` prints it there."),
          agents: z
            .array(name)
            .optional()
            .describe("Its agents that may be written to from here; default all that it lists."),
          grants: z
            .array(name)
            .optional()
            .describe("Agents here that it may write to; default all that are not private."),
        })
        .superRefine((peer, context) => {
          if (peer.connector === (peer.address === undefined)) return;
          const message = peer.connector ? "must be left out: a connector is not dialled" : "is required";
          context.addIssue({ code: "custom", path: ["address"], message });
        }),
    )
    .default({}),
  notify_command: z
    .array(text)
    .min(1)
    .optional()
    .describe("Program and arguments that are run when a prompt, a reply or an event waits for a person."),
  log_level: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("info")
    .describe("Least severe log level that is written."),
  client_tokens_file: text
    .optional()
    .describe("File of hashed client tokens, from the home; default `client-tokens.yaml`."),
  tracing: z
    .strictObject({
      endpoint: z
        .url({ protocol: /^https?$/, error: "must be an http or https URL" })
        .default(COLLECTOR)
        .describe("Address of a collector that takes OTLP traces over HTTP."),
      sample_ratio: z
        .number()
        .min(0)
        .max(1)
        .default(1)
        .describe(
          "Share of the traces that begin here that are recorded; what a caller records is recorded in any case.",
        ),
    })
    .optional(),
});

/**
 * Reads `talaria.yaml`; a missing file gives the defaults.
 * @throws ConfigError for what cannot be used.
 */
export function loadGatewayConfig(file: string, machine: Machine = thisMachine()): GatewayConfig {
  return resolveGatewayConfig(loadYaml(file, gatewayConfigSchema), machine);
}

/** Fills in what depends on the machine. */
export function resolveGatewayConfig(written: z.output<typeof gatewayConfigSchema>, machine: Machine): GatewayConfig {
  const { client_tcp: clientTcp, peers: peerListener, metrics, reflection_on_tcp: reflectionOnTcp } = written.listeners;
  return {
    name: written.name ?? gatewayNameFrom(machine.hostname),
    ...(written.run_dir === undefined ? {} : { runDir: written.run_dir }),
    listeners: {
      ...(clientTcp === undefined ? {} : { clientTcp: withTls(clientTcp) }),
      ...(peerListener === undefined ? {} : { peers: peerListener }),
      ...(metrics === undefined ? {} : { metrics }),
      reflectionOnTcp,
    },
    workers: {
      poolSize: written.workers.pool_size,
      max: written.workers.max ?? defaultWorkerCap(machine.totalMemoryBytes),
      nice: written.workers.nice,
    },
    budgets: resolveBudgets(written.budgets),
    backups: written.backups,
    dm: written.dm,
    peers: Object.fromEntries(
      Object.entries(written.peers).map(([peer, { address = "", connector, pin, agents, grants }]) => [
        peer,
        {
          address,
          ...(connector ? { connector } : {}),
          pin,
          ...(agents === undefined ? {} : { agents }),
          ...(grants === undefined ? {} : { grants }),
        },
      ]),
    ),
    ...(written.notify_command === undefined ? {} : { notifyCommand: written.notify_command }),
    logLevel: written.log_level,
    ...(written.client_tokens_file === undefined ? {} : { clientTokensFile: written.client_tokens_file }),
    ...(written.tracing === undefined
      ? {}
      : { tracing: { endpoint: written.tracing.endpoint, sampleRatio: written.tracing.sample_ratio } }),
  };
}

function withTls({
  tls,
  ...address
}: {
  readonly host: string;
  readonly port: number;
  readonly tls?: { readonly cert?: string | undefined; readonly key?: string | undefined } | undefined;
}): ClientListenAddress {
  if (tls === undefined) return address;
  const { cert, key } = tls;
  return { ...address, tls: cert === undefined || key === undefined ? {} : { cert, key } };
}
