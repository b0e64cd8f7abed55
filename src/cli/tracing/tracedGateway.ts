import type { Clock } from "../../base/clock.js";
import { rpcAttributes } from "../../rpc/harness/callSpan.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { TraceContext } from "../../rpc/traceContext.js";
import type { Tracer } from "../../rpc/tracing/tracer.js";
import type { GatewayClient } from "../gatewayClient.js";

/** What calls are told with. */
export interface TracedGatewayParts {
  readonly tracer: Tracer;
  readonly clock: Pick<Clock, "now">;
  /** What the calls are below. */
  readonly parent: TraceContext;
}

/** A gateway each call to which is in a trace, with a span of its own; closed by its owner, as the one behind it. */
export function tracedGateway(gateway: GatewayClient, { tracer, clock, parent }: TracedGatewayParts): GatewayClient {
  const begin = (method: string) => {
    const at = tracer.below(parent);
    const startMs = clock.now();
    const end = (error?: RpcError): void => {
      tracer.record({
        name: method.slice(1),
        kind: "client",
        at,
        parentSpanId: parent.spanId,
        startMs,
        endMs: Math.max(startMs, clock.now()),
        attributes: rpcAttributes(method, error),
        ...(error === undefined ? {} : { error: error.reason }),
      });
    };
    return { at, end };
  };
  const unary = async <T>(method: string, call: (trace: TraceContext) => Promise<T>): Promise<T> => {
    const { at, end } = begin(method);
    try {
      const answer = await call(at);
      end();
      return answer;
    } catch (caught) {
      end(RpcError.from(caught));
      throw caught;
    }
  };
  return {
    call: (method, request, more) => unary(method.path, (trace) => gateway.call(method, request, { ...more, trace })),
    send: (method, requests, more) => unary(method.path, (trace) => gateway.send(method, requests, { ...more, trace })),
    stream(method, request, more) {
      const { at, end } = begin(method.path);
      const stream = gateway.stream(method, request, { ...more, trace: at });
      return {
        async *[Symbol.asyncIterator]() {
          let failure: RpcError | undefined;
          try {
            yield* stream;
          } catch (caught) {
            failure = RpcError.from(caught);
            throw caught;
          } finally {
            end(failure);
          }
        },
        cancel: () => {
          stream.cancel();
        },
      };
    },
    close: () => {
      gateway.close();
    },
  };
}
