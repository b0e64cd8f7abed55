import type { MethodDefinition } from "@grpc/grpc-js";
import { existsSync, readFileSync } from "node:fs";

import { homePaths, homeRoot } from "../base/home.js";
import { connectChannel, type GatewayChannel } from "../client/connectGateway.js";
import type { ClientCallOptions } from "../rpc/clients/callOptions.js";
import type { ResponseStream } from "../rpc/clients/readStream.js";
import { readStream } from "../rpc/clients/readStream.js";
import { sendStream } from "../rpc/clients/sendStream.js";
import { unaryCall } from "../rpc/clients/unaryCall.js";
import { RpcError } from "../rpc/rpcError.js";
import { CliError } from "./cliError.js";
import { contextsPath, readContexts } from "./contexts/contextFile.js";
import type { ConnectionOptions, Endpoint } from "./endpoint.js";
import { resolveEndpoint } from "./endpoint.js";

/** A connection to a gateway, for one command. */
export interface GatewayClient {
  /** Calls a unary method. @throws RpcError. */
  call<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    options?: ClientCallOptions,
  ): Promise<Response>;
  /** Starts a method that streams responses. */
  stream<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    options?: ClientCallOptions,
  ): ResponseStream<Response>;
  /** Calls a method that takes a stream of requests. @throws RpcError. */
  send<Request, Response>(
    method: MethodDefinition<Request, Response>,
    requests: Iterable<Request>,
    options?: ClientCallOptions,
  ): Promise<Response>;
  close(): void;
}

/** Where a command goes, as its options, the environment and the user's contexts say. @throws CliError, ConfigError. */
export function endpointOf(options: ConnectionOptions, env: NodeJS.ProcessEnv): Endpoint {
  return resolveEndpoint(options, env, () => readContexts(contextsPath(env)));
}

/** Connects to a gateway. @throws CliError that says how to start one, where none runs. */
export async function connectGateway(endpoint: Endpoint, env: NodeJS.ProcessEnv): Promise<GatewayClient> {
  const { client, metadata } = endpoint.kind === "home" ? await connectHome(endpoint, env) : await connect(endpoint);
  return {
    call: (method, request, more) => unaryCall(client, method, request, { metadata, ...more }),
    stream: (method, request, more) => readStream(client, method, request, { metadata, ...more }),
    send: (method, requests, more) => sendStream(client, method, requests, { metadata, ...more }),
    close: () => {
      client.close();
    },
  };
}

async function connectHome(
  endpoint: Extract<Endpoint, { kind: "home" }>,
  env: NodeJS.ProcessEnv,
): Promise<GatewayChannel> {
  const home = endpoint.home ?? homeRoot(env);
  return connectChannel({ address: `unix:${await socketOf(home)}` }).catch((caught: unknown) => {
    if (!RpcError.is(caught, "UNAVAILABLE")) throw caught;
    const start = endpoint.home === undefined ? "talaria serve" : `talaria serve --home ${home}`;
    throw new CliError("UNAVAILABLE", `No gateway runs on ${home}.`, `Start it with: ${start}`, { cause: caught });
  });
}

async function connect(endpoint: Extract<Endpoint, { kind: "address" }>): Promise<GatewayChannel> {
  const { address, token, ca, pin } = endpoint;
  const tls =
    ca === undefined && pin === undefined
      ? undefined
      : { ...(ca === undefined ? {} : { ca: readCertificates(ca) }), ...(pin === undefined ? {} : { pin }) };
  return connectChannel({
    address,
    ...(token === undefined ? {} : { token }),
    ...(tls === undefined ? {} : { tls }),
  }).catch((caught: unknown) => {
    if (!RpcError.is(caught, "UNAVAILABLE")) throw caught;
    const hint =
      tls === undefined && !address.startsWith("tls:")
        ? "Check the address, and that a gateway runs there (talaria serve); one with TLS wants --ca, --pin or tls:<host>:<port>."
        : "Check the address, that a gateway with TLS runs there, and that the certificates are those that signed its own.";
    throw new CliError("UNAVAILABLE", caught.message, hint, { cause: caught });
  });
}

function readCertificates(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new CliError("CONFIG_INVALID", `The certificates in ${file} cannot be read: ${code}.`, "Check the path.", {
      cause: error,
    });
  }
}

/** The socket of a home. The configuration, which takes time to read, matters only where the socket is elsewhere. */
async function socketOf(home: string): Promise<string> {
  const paths = homePaths(home);
  if (existsSync(paths.gatewaySocket) || !existsSync(paths.configFile)) return paths.gatewaySocket;
  const { loadGatewayConfig } = await import("../base/config/gatewayConfig.js");
  return homePaths(home, loadGatewayConfig(paths.configFile).runDir).gatewaySocket;
}
