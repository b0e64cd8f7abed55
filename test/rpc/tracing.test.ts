import { expect, test } from "vitest";

import { readStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { defineServerStream, defineUnary } from "../../src/rpc/harness/methods.js";
import { reasonError } from "../../src/rpc/rpcError.js";
import { formatTraceparent, parseTraceparent, type TraceContext } from "../../src/rpc/traceContext.js";
import { tracedSpans } from "../../src/rpc/tracing/testing/tracedSpans.js";
import { EchoService, message } from "./echoDefinition.js";
import { echo, rejection, useClient, useListener } from "./useListener.js";

const CALLER: TraceContext = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", sampled: true };
const OTHER = "00-11111111111111111111111111111111-2222222222222222-01";

/** Says where it stands in its trace; joins the trace in its request's domain first, where that says `join`. */
const service = echo({
  unary: defineUnary({
    handle(request, context) {
      if (request.reason === "fail") throw reasonError("UNKNOWN_INPUT");
      if (request.reason === "join") context.joinTrace(request.domain);
      const { trace } = context;
      return Promise.resolve(message(trace === undefined ? "none" : formatTraceparent(trace)));
    },
  }),
  down: defineServerStream({
    async *handle(request, context) {
      const trace = request.reason === "join" ? context.joinTrace("") : context.trace;
      yield message(trace === undefined ? "none" : formatTraceparent(trace));
    },
  }),
});

test("a call is a span below its caller, and its handler knows where", async () => {
  const { tracer, spans } = tracedSpans();
  const { address } = await useListener([service], { tracer });
  const { reason } = await unaryCall(useClient(address), EchoService.unary, message("x"), { trace: CALLER });
  expect(spans).toMatchObject([
    {
      name: "test.EchoService/Unary",
      kind: "server",
      parentSpanId: CALLER.spanId,
      attributes: {
        "rpc.system.name": "grpc",
        "rpc.method": "test.EchoService/Unary",
        "rpc.response.status_code": "OK",
        "talaria.caller": "client",
      },
    },
  ]);
  const [span] = spans;
  expect(span?.at).toEqual(parseTraceparent(reason));
  expect(span?.at.traceId).toBe(CALLER.traceId);
  expect(span?.error).toBeUndefined();
  expect(span?.endMs).toBeGreaterThanOrEqual(span?.startMs ?? Number.POSITIVE_INFINITY);
});

test("a call that fails says with what", async () => {
  const { tracer, spans } = tracedSpans();
  const { address } = await useListener([service], { tracer });
  await rejection(unaryCall(useClient(address), EchoService.unary, message("fail"), { trace: CALLER }));
  expect(spans).toMatchObject([
    {
      error: "UNKNOWN_INPUT",
      attributes: { "rpc.response.status_code": "NOT_FOUND", "error.type": "UNKNOWN_INPUT" },
    },
  ]);
});

test("a trace that the request itself names goes before the header's", async () => {
  const { tracer, spans } = tracedSpans();
  const { address } = await useListener([service], { tracer });
  const client = useClient(address);
  await unaryCall(client, EchoService.unary, message("join", OTHER), { trace: CALLER });
  await unaryCall(client, EchoService.unary, message("join", "junk"), { trace: CALLER });
  expect(spans.map(({ at, parentSpanId }) => [at.traceId, parentSpanId])).toEqual([
    [parseTraceparent(OTHER)?.traceId, parseTraceparent(OTHER)?.spanId],
    [CALLER.traceId, CALLER.spanId],
  ]);
});

test("a call without a trace begins one only where its handler asks for it", async () => {
  const { tracer, spans } = tracedSpans();
  const { address } = await useListener([service], { tracer });
  const client = useClient(address);
  expect((await unaryCall(client, EchoService.unary, message("x"))).reason).toBe("none");
  for await (const { reason } of readStream(client, EchoService.down, message("x"))) expect(reason).toBe("none");
  expect(spans).toEqual([]);
  for await (const { reason } of readStream(client, EchoService.down, message("join"))) {
    expect(parseTraceparent(reason)).toBeDefined();
  }
  expect(spans.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([["test.EchoService/Down", undefined]]);
});

test("without a tracer the caller's position is passed on as it is", async () => {
  const { address } = await useListener([service]);
  const { reason } = await unaryCall(useClient(address), EchoService.unary, message("join", ""), { trace: CALLER });
  expect(reason).toBe(formatTraceparent(CALLER));
});
