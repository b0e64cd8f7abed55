import { expect, test } from "vitest";

import { FakeClock } from "../../base/testing/fakeClock.js";
import { SecretRegistry } from "../../base/secretRegistry.js";
import { ModelCalled } from "../../gen/talaria/owner/v1/owner_service.js";
import { passingTracer } from "../../rpc/tracing/passingTracer.js";
import { seededRandom } from "../../base/testing/seededRandom.js";
import { parseTraceparent } from "../../rpc/traceContext.js";
import { pathOf, tracedSpans } from "../../rpc/tracing/testing/tracedSpans.js";
import { toTimestamp } from "../../rpc/wire/times.js";
import type { Store } from "../../store/store.js";
import { useStore } from "../../store/testing/useStore.js";
import type { ClaimedInput } from "../../store/turns/claimInput.js";
import { executionRow } from "../../store/turns/executionRow.js";
import { fresh, TurnBench } from "../../store/turns/testing/turnBench.js";
import { reasonNumber } from "../../rpc/reasonNumber.js";
import { RpcError } from "../../rpc/rpcError.js";
import { traceRecovered } from "./recoveredTurn.js";
import { TurnTrace } from "./turnTrace.js";

const STORED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const QUEUED_AT = 1_700_000_000_000;
const NIGHT_MS = 8 * 3_600_000;

let store: Store;
useStore((opened) => {
  store = opened;
});

/** A turn whose input has waited for a night, with its trace. */
async function claimed(executionId = fresh.execution()) {
  const bench = new TurnBench(store);
  const sessionId = fresh.session();
  await bench.admit(sessionId, { create: true, traceparent: STORED });
  const claim = await bench.claim(sessionId, executionId);
  if (claim.kind !== "claimed") throw new Error(claim.kind);
  const fence = { executionId, epoch: store.epoch, generation: claim.claimed.generation };
  await bench.adopt(fence);
  return { bench, fence, executionId, input: claim.claimed };
}

function traceOf(executionId: string, input: ClaimedInput) {
  const clock = new FakeClock(QUEUED_AT + NIGHT_MS);
  const secrets = new SecretRegistry();
  const { tracer, spans } = tracedSpans();
  const trace = new TurnTrace({ tracer, clock, secrets, store }, executionId, input);
  return { clock, secrets, tracer, spans, trace };
}

test("a turn is told in its phases, below what queued it, however long it waited", async () => {
  const { bench, fence, executionId, input } = await claimed();
  const { clock, spans, trace } = traceOf(executionId, input);
  clock.advance(100);
  trace.assigned();
  clock.advance(20);
  trace.frame({ $case: "ready", value: { pid: 1, model: "m" } });
  clock.advance(1_000);
  await bench.result(fence);
  trace.settled();
  clock.advance(30);
  trace.ended();
  const told = spans.map(({ name, startMs, endMs }) => [name, Math.round((endMs - startMs) / 10) * 10]);
  expect(told).toEqual([
    ["talaria.turn.queued", NIGHT_MS],
    ["talaria.turn.launch", 100],
    ["talaria.turn.bootstrap", 20],
    ["invoke_agent echo", 1_020],
    ["talaria.turn.finish", 30],
    ["talaria.turn", NIGHT_MS + 1_150],
  ]);
  expect(pathOf(spans, "talaria.turn.bootstrap")).toEqual([
    "talaria.turn",
    "invoke_agent echo",
    "talaria.turn.bootstrap",
  ]);
  const turn = spans.at(-1);
  expect(turn).toMatchObject({
    parentSpanId: parseTraceparent(STORED)?.spanId,
    attributes: { "talaria.turn.outcome": "completed", "talaria.execution.id": executionId },
  });
  expect(turn?.error).toBeUndefined();
  expect(new Set(spans.map(({ at }) => at.traceId))).toEqual(new Set([parseTraceparent(STORED)?.traceId]));
});

test("what the worker is told is the span of its agent's work, whose model and tool calls are below it", async () => {
  const { executionId, input } = await claimed();
  const { clock, secrets, spans, trace } = traceOf(executionId, input);
  secrets.add("hunter2-hunter2");
  trace.assigned();
  const agent = parseTraceparent(trace.worker.traceparent);
  expect(trace.worker.traceWork).toBe(true);
  const at = clock.now();
  trace.frame({
    $case: "modelCalled",
    value: ModelCalled.fromPartial({
      spanId: "00f067aa0ba902b7",
      startedAt: toTimestamp(at),
      endedAt: toTimestamp(at + 250),
      provider: "local",
      host: "127.0.0.1:1",
      model: "m",
      servedModel: "m-hunter2-hunter2",
      inputTokens: 12n,
      outputTokens: 3n,
      finishReason: "anything else",
    }),
  });
  trace.frame({
    $case: "events",
    value: {
      events: [
        {
          event: {
            $case: "toolStarted",
            value: { toolCallId: "c1", name: "look", arguments: {}, cut: false } as never,
          },
        },
        {
          event: {
            $case: "toolStarted",
            value: { toolCallId: "c2", name: "open", arguments: {}, cut: false } as never,
          },
        },
        { event: { $case: "toolCompleted", value: { toolCallId: "c1", name: "look", isError: false } as never } },
      ],
    },
  });
  trace.settled();
  expect(spans.find(({ name }) => name === "chat m")).toMatchObject({
    kind: "client",
    at: { spanId: "00f067aa0ba902b7" },
    parentSpanId: agent?.spanId,
    startMs: at,
    endMs: at + 250,
    attributes: { "gen_ai.response.model": "m-[redacted]", "gen_ai.usage.input_tokens": 12 },
  });
  expect(spans.find(({ name }) => name === "chat m")?.attributes).not.toHaveProperty("gen_ai.response.finish_reasons");
  const tools = spans.filter(({ name }) => name.startsWith("execute_tool"));
  expect(tools.map(({ name, error, parentSpanId }) => [name, error, parentSpanId])).toEqual([
    ["execute_tool look", undefined, agent?.spanId],
    ["execute_tool open", "tool_error", agent?.spanId],
  ]);
});

test("a model call that failed says why; one without its span or times breaks the contract", async () => {
  const { executionId, input } = await claimed();
  const { spans, trace } = traceOf(executionId, input);
  const times = { startedAt: toTimestamp(5), endedAt: toTimestamp(4) };
  const failed = { ...times, spanId: "00f067aa0ba902b7", model: "m", failure: reasonNumber("PROVIDER_QUOTA") };
  trace.frame({ $case: "modelCalled", value: ModelCalled.fromPartial(failed) });
  expect(spans.at(-1)).toMatchObject({ error: "PROVIDER_QUOTA", startMs: 5, endMs: 5 });
  for (const broken of [
    { ...times, spanId: "0".repeat(16) },
    { ...times, spanId: "x" },
    { spanId: "00f067aa0ba902b7" },
  ]) {
    const frame = { $case: "modelCalled" as const, value: ModelCalled.fromPartial(broken) };
    expect(() => trace.frame(frame)).toThrow(RpcError);
  }
});

test("a turn that was lost before its worker had it is told without an agent's work", async () => {
  const { bench, executionId, input } = await claimed();
  const { spans, trace } = traceOf(executionId, input);
  await bench.lose(executionId, "failed");
  trace.settled();
  trace.ended();
  expect(spans.map(({ name }) => name)).toEqual([
    "talaria.turn.queued",
    "talaria.turn.launch",
    "talaria.turn.finish",
    "talaria.turn",
  ]);
  expect(spans.at(-1)).toMatchObject({ error: "WORKER_LOST", attributes: { "talaria.turn.outcome": "failed" } });
});

test("the next start tells the turn that died with its gateway under the same spans", async () => {
  const { bench, executionId, input } = await claimed();
  const { trace, tracer, spans } = traceOf(executionId, input);
  const agent = parseTraceparent(trace.worker.traceparent);
  const left = executionRow(store.reader, executionId);
  if (left === undefined) throw new Error("no execution");
  await bench.lose(executionId, "unknown");
  spans.splice(0);
  traceRecovered({ tracer, store, clock: new FakeClock() }, left);
  expect(spans.map(({ name, error }) => [name, error])).toEqual([
    ["invoke_agent echo", "WORKER_LOST"],
    ["talaria.turn", "WORKER_LOST"],
  ]);
  expect(spans[0]?.at.spanId).toBe(agent?.spanId);
  expect(spans[1]).toMatchObject({ startMs: input.input.queued_at, attributes: { "talaria.turn.recovered": true } });
});

test("without tracing a worker is told the trace of its input as it came, and of no work to tell", async () => {
  const { executionId, input } = await claimed();
  const parts = {
    tracer: passingTracer(seededRandom(1)),
    clock: new FakeClock(),
    secrets: new SecretRegistry(),
    store,
  };
  expect(new TurnTrace(parts, executionId, input).worker).toEqual({ traceparent: STORED, traceWork: false });
});
