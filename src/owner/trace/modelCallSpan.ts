import type { ModelCalled } from "../../gen/talaria/owner/v1/owner_service.js";
import { cutToCodePoints } from "../../base/codePoints.js";
import { reasonOfNumber } from "../../rpc/reasons.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { SpanRecord } from "../../rpc/tracing/spanRecord.js";
import { parseTraceparent, type TraceContext } from "../../rpc/traceContext.js";
import { fromTimestamp } from "../../rpc/wire/times.js";

/** Longest text that a worker says of a call, code points. */
const TEXT_CODE_POINTS = 128;
const FINISH_REASONS: readonly string[] = ["stop", "length", "tool_calls"];

/**
 * The span of a model call that a worker tells of. Source: OpenTelemetry's conventions for generative AI, "Inference".
 * @param agent what the call is below
 * @param hide removes secrets from texts
 * @throws RpcError FRAME_INVALID where it breaks the contract.
 */
export function modelCallSpan(called: ModelCalled, agent: TraceContext, hide: (text: string) => string): SpanRecord {
  const at = parseTraceparent(`00-${agent.traceId}-${called.spanId}-${agent.sampled ? "01" : "00"}`);
  const startMs = fromTimestamp(called.startedAt);
  const endMs = fromTimestamp(called.endedAt);
  if (at === undefined || startMs === undefined || endMs === undefined) {
    throw new RpcError("FRAME_INVALID", { message: "A model call is told without its span or its times." });
  }
  const text = (value: string): string => cutToCodePoints(hide(value), TEXT_CODE_POINTS);
  const model = text(called.model);
  const error = called.failure === 0 ? undefined : (reasonOfNumber(called.failure) ?? "INTERNAL");
  return {
    name: `chat ${model}`,
    kind: "client",
    at,
    parentSpanId: agent.spanId,
    startMs,
    endMs: Math.max(startMs, endMs),
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": text(called.provider),
      "gen_ai.request.model": model,
      "server.address": text(called.host),
      ...(called.servedModel === "" ? {} : { "gen_ai.response.model": text(called.servedModel) }),
      ...(error === undefined
        ? {
            "gen_ai.usage.input_tokens": Number(called.inputTokens),
            "gen_ai.usage.output_tokens": Number(called.outputTokens),
          }
        : { "error.type": error }),
      ...(FINISH_REASONS.includes(called.finishReason)
        ? { "gen_ai.response.finish_reasons": [called.finishReason] }
        : {}),
    },
    ...(error === undefined ? {} : { error }),
  };
}
