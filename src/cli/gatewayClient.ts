import type { Client, MethodDefinition } from "@grpc/grpc-js";
import { existsSync } from "node:fs";

import { homePaths, homeRoot } from "../base/home.js";
import type { ClientCallOptions } from "../rpc/clients/callOptions.js";
import { connectClient } from "../rpc/clients/connectClient.js";
import type { ResponseStream } from "../rpc/clients/readStream.js";
import { readStream } from "../rpc/clients/readStream.js";
import { unaryCall } from "../rpc/clients/unaryCall.js";
import { RpcError } from "../rpc/rpcError.js";
import { CliError } from "./cliError.js";

/** How a command reaches its gateway; each may come from the command line or the environment. */
export interface ConnectionOptions {
  /** The home whose socket is used; default as `TALARIA_HOME` says. */
  readonly home?: string;
  /** `unix:<path>` or `<host>:<port>`; default the home's socket. */
  readonly address?: string;
  /** Token for TCP. */
  readonly token?: string;
}

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
  close(): void;
}

/** Connects to the gateway that the options name. @throws CliError that says how to start one, where none runs. */
export async function connectGateway(options: ConnectionOptions, env: NodeJS.ProcessEnv): Promise<GatewayClient> {
  const given = options.address ?? env["TALARIA_ADDRESS"];
  const token = options.token ?? env["TALARIA_TOKEN"];
  const home = options.home ?? homeRoot(env);
  const address = given ?? `unix:${await socketOf(home)}`;
  const client = await connect(address).catch((error: unknown) => {
    if (!RpcError.is(error, "UNAVAILABLE")) throw error;
    if (given !== undefined) {
      throw new CliError("UNAVAILABLE", error.message, "Check the address, and that a gateway runs there.", {
        cause: error,
      });
    }
    const start = options.home === undefined ? "talaria serve" : `talaria serve --home ${home}`;
    throw new CliError("UNAVAILABLE", `No gateway runs on ${home}.`, `Start it with: ${start}`, { cause: error });
  });
  const metadata = token === undefined || address.startsWith("unix:") ? {} : { authorization: `Bearer ${token}` };
  return {
    call: (method, request, more) => unaryCall(client, method, request, { metadata, ...more }),
    stream: (method, request, more) => readStream(client, method, request, { metadata, ...more }),
    close: () => {
      client.close();
    },
  };
}

function connect(address: string): Promise<Client> {
  return connectClient({ address, purpose: address.startsWith("unix:") ? "unix" : "tcp" });
}

/** The socket of a home. The configuration, which takes time to read, matters only where the socket is elsewhere. */
async function socketOf(home: string): Promise<string> {
  const paths = homePaths(home);
  if (existsSync(paths.gatewaySocket) || !existsSync(paths.configFile)) return paths.gatewaySocket;
  const { loadGatewayConfig } = await import("../base/config/gatewayConfig.js");
  return homePaths(home, loadGatewayConfig(paths.configFile).runDir).gatewaySocket;
}
