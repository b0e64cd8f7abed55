import { setMaxListeners } from "node:events";

import type { MethodDefinition } from "@grpc/grpc-js";

import { systemClock } from "../base/clock.js";
import { newId } from "../base/ids.js";
import { systemRandom } from "../base/random.js";
import type { ClientCallOptions } from "../rpc/clients/callOptions.js";
import { type ResponseStream, readStream } from "../rpc/clients/readStream.js";
import { unaryCall } from "../rpc/clients/unaryCall.js";
import { type GatewayEndpoint, openChannel } from "./connectGateway.js";
import { mayRepeat } from "./idempotency.js";
import { resume, retry, type Resumable, type RetryPorts } from "./resume.js";
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from "./retryPolicy.js";

/** How a client reaches its gateway and how stubbornly. */
export interface TalariaClientOptions extends GatewayEndpoint {
  /** Changes to {@link DEFAULT_RETRY_POLICY}. */
  readonly retry?: Partial<RetryPolicy>;
}

/** What a call may be given. */
export type TalariaCallOptions = Pick<ClientCallOptions, "signal" | "timeoutMs" | "trace">;

/** One connection to a gateway. It connects at its first call and again whenever that is needed. */
export interface TalariaConnection {
  /**
   * Calls a method. One that the contract calls idempotent is tried again where the connection breaks or the gateway is going down,
   * with backoff, never before the gateway wants it.
   * @throws RpcError
   */
  readonly call: <Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    options?: TalariaCallOptions,
  ) => Promise<Response>;
  /** Reads a stream once: a break ends it. */
  readonly stream: <Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    options?: TalariaCallOptions,
  ) => ResponseStream<Response>;
  /** Reads a stream over breaks. @throws RpcError what trying again cannot mend. */
  readonly follow: <Item>(stream: Resumable<Item>, signal: AbortSignal) => AsyncGenerator<Item, void, undefined>;
  /** A key for a request that changes something: the same key never does it twice. */
  readonly newRequestId: () => string;
  /** Ends every call and lets go of the connection. */
  readonly close: () => void;
}

/** Makes a connection. @throws RpcError TRANSPORT_INSECURE, INVALID_FIELD, SOCKET_PATH_TOO_LONG. */
export function openConnection({ retry: changes, ...endpoint }: TalariaClientOptions): TalariaConnection {
  const { client, metadata, problem } = openChannel(endpoint);
  const policy = { ...DEFAULT_RETRY_POLICY, ...changes };
  const ports: RetryPorts = { clock: systemClock, random: systemRandom, policy };
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const signalOf = (given: AbortSignal | undefined): AbortSignal =>
    given === undefined ? closing.signal : AbortSignal.any([given, closing.signal]);
  return {
    call(method, request, options = {}) {
      const signal = signalOf(options.signal);
      const once = () =>
        unaryCall(client, method, request, { ...options, metadata, signal }).catch((caught: unknown) => {
          throw problem() ?? caught;
        });
      return mayRepeat(method.path) ? retry(once, ports, signal) : once();
    },
    stream: (method, request, options = {}) =>
      readStream(client, method, request, { ...options, metadata, signal: signalOf(options.signal) }),
    follow: (stream, signal) => resume(stream, ports, signalOf(signal)),
    newRequestId: () => newId("req", systemRandom),
    close() {
      closing.abort();
      client.close();
    },
  };
}
