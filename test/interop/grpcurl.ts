import { paths } from "./paths.js";
import { beginTool, type Ended, type Running } from "./runTool.js";
import type { Gateway, Transport } from "./useGateway.js";

/** What one grpcurl call is given. */
export interface GrpcurlCall {
  /** The verb or method, after the address. */
  readonly words: readonly string[];
  /** Request as JSON; absent sends none. */
  readonly request?: object;
  /** Token sent; default the gateway's over TCP and none on the socket; null sends none. */
  readonly token?: string | null;
  /** Further flags. */
  readonly flags?: readonly string[];
}

/** Makes grpcurl read the contract from files, so that it does not ask for reflection. */
export const FROM_FILES: readonly string[] = [
  ...["-import-path", paths.proto],
  ...["talaria/gateway/v1/turn_service.proto", "grpc/health/v1/health.proto", "google/rpc/error_details.proto"].flatMap(
    (file) => ["-proto", file],
  ),
];

/** Starts grpcurl against a gateway. */
export function beginGrpcurl(gateway: Gateway, transport: Transport, call: GrpcurlCall): Running {
  const { words, request, token = transport === "tcp" ? gateway.token : null, flags = [] } = call;
  return beginTool(paths.grpcurl, [
    "-plaintext",
    ...(token === null ? [] : ["-H", `authorization: Bearer ${token}`]),
    ...(request === undefined ? [] : ["-d", JSON.stringify(request)]),
    ...flags,
    gateway.addresses[transport],
    ...words,
  ]);
}

/** Runs grpcurl against a gateway to its end. */
export function runGrpcurl(gateway: Gateway, transport: Transport, call: GrpcurlCall): Promise<Ended> {
  return beginGrpcurl(gateway, transport, call).ended;
}
