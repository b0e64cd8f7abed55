import type { Clock } from "../base/clock.js";
import { cutToCodePoints } from "../base/codePoints.js";
import type { Random } from "../base/random.js";
import { ModelCalled } from "../gen/talaria/owner/v1/owner_service.js";
import { reasonNumber } from "../rpc/reasonNumber.js";
import type { Reason } from "../rpc/reasons.js";
import { childTrace, formatTraceparent, parseTraceparent } from "../rpc/traceContext.js";
import { toTimestamp } from "../rpc/wire/times.js";
import type { AttachSession } from "./attachSession.js";
import type { CheckedBootstrap } from "./checkBootstrap.js";

/** A model that is about to be asked. */
export interface AskedModel {
  /** As configured; may be empty. */
  readonly provider: string;
  /** Host and port of the endpoint. */
  readonly host: string;
  readonly model: string;
}

/** How a request to a model ended. */
export type ModelCallEnd =
  | {
      readonly kind: "answered";
      /** Model that the provider says it served. */
      readonly servedModel: string | undefined;
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly finishReason: "stop" | "length" | "tool_calls";
    }
  | { readonly kind: "failed"; readonly reason: Reason };

/** One request to a model, in the turn's trace. */
export interface ModelCallReport {
  /** The `traceparent` header that it is to be sent with; undefined where the turn is not traced. */
  readonly traceparent: string | undefined;
  /** Tells the owner how it ended; once. Never throws and never waits. */
  readonly end: (end: ModelCallEnd) => void;
}

/** What {@link createModelCallReports} needs. */
export interface ModelCallReportsOptions {
  readonly bootstrap: Pick<CheckedBootstrap, "trace" | "traceWork">;
  readonly session: Pick<AttachSession, "send">;
  readonly clock: Clock;
  readonly random: Random;
}

/** Longest text that is told, code points. Source: the contract, ModelCalled. */
const TEXT_CODE_POINTS = 128;

const UNTRACED: ModelCallReport = { traceparent: undefined, end: () => undefined };

/** Makes the function that begins a report; it reports nothing where the owner does not record the turn's trace. */
export function createModelCallReports(options: ModelCallReportsOptions): (asked: AskedModel) => ModelCallReport {
  const { bootstrap, session, clock, random } = options;
  const agent = bootstrap.traceWork ? parseTraceparent(bootstrap.trace?.traceparent ?? "") : undefined;
  if (agent === undefined) return () => UNTRACED;
  const text = (value: string): string => cutToCodePoints(value, TEXT_CODE_POINTS);
  return ({ provider, host, model }) => {
    const at = childTrace(agent, random);
    const startedAt = clock.now();
    return {
      traceparent: formatTraceparent(at),
      end(end) {
        const facts =
          end.kind === "failed"
            ? { failure: reasonNumber(end.reason) }
            : {
                servedModel: text(end.servedModel ?? ""),
                inputTokens: tokens(end.inputTokens),
                outputTokens: tokens(end.outputTokens),
                finishReason: end.finishReason,
              };
        const value = ModelCalled.fromPartial({
          spanId: at.spanId,
          startedAt: toTimestamp(startedAt),
          endedAt: toTimestamp(clock.now()),
          provider: text(provider),
          host: text(host),
          model: text(model),
          ...facts,
        });
        // A stream that has ended takes nothing, and a turn does not fail for that.
        session.send({ $case: "modelCalled", value }).catch(() => undefined);
      },
    };
  };
}

function tokens(count: number): bigint {
  return BigInt(Number.isSafeInteger(count) && count > 0 ? count : 0);
}
