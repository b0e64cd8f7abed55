import { ServerInterceptingCall, type Metadata, type ServerInterceptor } from "@grpc/grpc-js";
import type { Logger } from "../base/logger.js";
import type { Connection, Connections } from "./connection.js";
import type { Principal } from "./principal.js";
import { RpcError } from "./rpcError.js";
import { toStatus } from "./status.js";

/** Most metadata a request may carry, bytes of names and values as sent. grpc-js resets streams at about 200 kB. */
export const MAX_METADATA_BYTES = 8_000;

/** Most metadata pairs a request may carry. Other stacks fail at about 100. */
export const MAX_METADATA_PAIRS = 32;

/** What a listener decides from. */
export interface AuthenticationInput {
  /** What the call came in on. */
  readonly connection: Connection;
  /** What the client sent along. */
  readonly metadata: Metadata;
  /** Full name of the method: `/<package>.<Service>/<Method>`. */
  readonly method: string;
}

/** Says who calls. @throws RpcError (UNAUTHENTICATED, TOKEN_INVALID, PERMISSION_DENIED, ...) to refuse. */
export type Authenticate = (input: AuthenticationInput) => Principal | Promise<Principal>;

/** What is known of a call before its body is looked at. */
export interface Caller {
  /** Who calls. */
  readonly principal: Principal;
  /** What the call came in on. */
  readonly connection: Connection;
}

// Keyed by the very object that grpc-js hands from the interceptor to the handler, so that no header can forge it.
const callers = new WeakMap<Metadata, Caller>();

/** The caller that {@link authenticationInterceptor} has found for a call. @throws Error where it has not run. */
export function callerOf(metadata: Metadata): Caller {
  const caller = callers.get(metadata);
  if (caller === undefined) throw new Error("the call was not authenticated");
  return caller;
}

/** Authenticates each call at its headers: nothing of the body is read, let alone decoded, before. */
export function authenticationInterceptor(
  connections: Connections,
  authenticate: Authenticate,
  log: Logger,
): ServerInterceptor {
  return (method, call) => {
    const identify = async (metadata: Metadata): Promise<Caller> => {
      checkMetadata(metadata);
      const connection = connections.get(call.getConnectionInfo().remoteAddress ?? "");
      if (connection === undefined) throw new RpcError("CANCELLED", { message: "The connection has closed." });
      const principal = await authenticate({ connection, metadata, method: method.path });
      return { principal, connection };
    };
    return new ServerInterceptingCall(call, {
      start(next) {
        next({
          onReceiveMetadata(metadata, accept) {
            identify(metadata).then(
              (caller) => {
                callers.set(metadata, caller);
                accept(metadata);
              },
              (caught: unknown) => {
                const error = RpcError.from(caught);
                const fields = { method: method.path, reason: error.reason };
                if (error.reason === "INTERNAL") log.error({ ...fields, err: caught }, "authentication failed");
                else log.info(fields, "call refused at its headers");
                call.sendStatus(toStatus(error));
              },
            );
          },
        });
      },
    });
  };
}

function checkMetadata(metadata: Metadata): void {
  let bytes = 0;
  let pairs = 0;
  for (const [name, value] of Object.entries(metadata.toHttp2Headers())) {
    for (const one of Array.isArray(value) ? value : [value]) {
      bytes += name.length + String(one ?? "").length;
      pairs += 1;
    }
  }
  if (bytes > MAX_METADATA_BYTES || pairs > MAX_METADATA_PAIRS) throw new RpcError("METADATA_TOO_LARGE");
}
