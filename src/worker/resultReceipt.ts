import { createHash } from "node:crypto";
import { cutToCodePoints, toWellFormed } from "../base/codePoints.js";
import { LIMITS } from "../base/limits.js";
import type { Timestamp } from "../gen/google/protobuf/timestamp.js";
import { Reason } from "../gen/talaria/reason/v1/reason.js";
import {
  TurnExit,
  type AnswerReference,
  type BillingBlock,
  type FreeTierNotice,
  type TurnResult,
} from "../gen/talaria/types/v1/result.js";
import { reasonNumber } from "../rpc/reasonNumber.js";
import type { RuntimeAnswer, RuntimeBilling } from "./runtimes/runtime.js";
import { cutToBytes } from "../base/toolPayload.js";
import type { UsageTotals } from "./usageTally.js";

/** Longest answer that the receipt carries itself, and longest piece of a longer one, bytes of UTF-8. */
export const INLINE_ANSWER_BYTES = 1_048_576;

/** Longest answer altogether, bytes of UTF-8. */
const ANSWER_BYTES = 64 * 1_048_576;

/** What a receipt is made of. */
export interface ReceiptFacts {
  /** What the runtime answered. */
  readonly answer: RuntimeAnswer;
  /** Whether the turn was stopped. */
  readonly stopped: boolean;
  /** What the turn used. */
  readonly usage: UsageTotals;
  /** The execution's session. */
  readonly sessionId: string;
  /** Removes secrets from the texts. */
  readonly redact: (text: string) => string;
}

/** A receipt, and the pieces of an answer that is too long for it. */
export interface Receipt {
  readonly result: TurnResult;
  /** Each at most 1 MiB of UTF-8; empty where the receipt carries the answer itself. */
  readonly pieces: readonly string[];
}

/**
 * Makes a turn's receipt. Every text is cut to its bound and every number that is none is left out, so that a turn which has
 * done its work is never lost to its own figures.
 */
export function makeReceipt({ answer, stopped, usage, sessionId, redact }: ReceiptFacts): Receipt {
  const whole = toWellFormed(redact(answer.text));
  const text = cutToBytes(whole, ANSWER_BYTES);
  const long = Buffer.byteLength(text, "utf8") > INLINE_ANSWER_BYTES;
  const { failure } = answer;
  const failed = failure !== undefined;
  const input = BigInt(usage.inputTokens);
  const output = BigInt(usage.outputTokens);
  const show = (given: string | undefined, limit: number): string | undefined =>
    given === undefined || given === "" ? undefined : cutToCodePoints(toWellFormed(redact(given)), limit, "…");
  const result: TurnResult = {
    finalResponse: long ? "" : text,
    failed,
    interrupted: stopped,
    completed: !failed && !stopped,
    partial: answer.partial === true || text.length < whole.length || (stopped && text !== ""),
    error: show(failure?.message, LIMITS.resultStringCodePoints),
    failureReason: failure === undefined ? Reason.REASON_UNSPECIFIED : reasonNumber(failure.reason),
    turnExitReason: exitOf(answer, stopped),
    usageWindowMessage: show(answer.usageWindowMessage, LIMITS.resultStringCodePoints),
    apiCalls: usage.apiCalls,
    model: show(answer.model, 256),
    provider: show(answer.provider, 64),
    requestedModel: show(answer.requestedModel, 256),
    servedModel: show(answer.servedModel, 256),
    serviceTier: show(answer.serviceTier, 64),
    sessionId,
    promptTokens: input,
    completionTokens: output,
    totalTokens: minimum(input + output, 2n ** 53n),
    cacheReadTokens: BigInt(usage.cacheReadTokens),
    cacheWriteTokens: BigInt(usage.cacheWriteTokens),
    reasoningTokens: BigInt(usage.reasoningTokens),
    turnInputTokens: usage.reported ? input : undefined,
    turnOutputTokens: usage.reported ? output : undefined,
    estimatedCostUsd: usage.costUsd,
    costStatus: usage.costStatus,
    costSource: show(usage.costSource, 256),
    failureRetryable: failure?.retryable,
    failureResetsAt: timestamp(failure?.resetsAtMs),
    billingBlock: answer.billing === undefined ? undefined : billingBlock(answer.billing, show),
    freeTier: answer.freeTier === undefined ? undefined : freeTier(answer.freeTier, show),
    answer: long ? referTo(text) : undefined,
  };
  return { result, pieces: long ? splitText(text, INLINE_ANSWER_BYTES) : [] };
}

/** Splits a text into pieces of at most so many bytes of UTF-8, between characters. */
export function splitText(text: string, bytes: number): readonly string[] {
  const encoded = Buffer.from(text, "utf8");
  const pieces: string[] = [];
  for (let start = 0; start < encoded.length;) {
    let end = Math.min(encoded.length, start + bytes);
    while (end < encoded.length && end > start && ((encoded[end] ?? 0) & 0xc0) === 0x80) end -= 1;
    pieces.push(encoded.toString("utf8", start, end));
    start = end;
  }
  return pieces;
}

function referTo(text: string): AnswerReference {
  const bytes = Buffer.from(text, "utf8");
  return { sha256: createHash("sha256").update(bytes).digest(), sizeBytes: BigInt(bytes.length) };
}

function exitOf(answer: RuntimeAnswer, stopped: boolean): TurnExit {
  if (stopped) return TurnExit.TURN_EXIT_STOPPED;
  if (answer.failure !== undefined) return TurnExit.TURN_EXIT_ERROR;
  return answer.modelCallLimit === true ? TurnExit.TURN_EXIT_MODEL_CALL_LIMIT : TurnExit.TURN_EXIT_ANSWERED;
}

/** Years 1970 to 9999; anything else is left out. */
function timestamp(ms: number | undefined): Timestamp | undefined {
  if (ms === undefined || !Number.isFinite(ms) || ms < 0 || ms > 253_402_300_799_000) return undefined;
  const whole = Math.floor(ms);
  return { seconds: BigInt(Math.floor(whole / 1_000)), nanos: (whole % 1_000) * 1_000_000 };
}

type Show = (text: string | undefined, limit: number) => string | undefined;

function billingBlock(billing: RuntimeBilling, show: Show): BillingBlock {
  const url = billing.billingUrl;
  return {
    provider: show(billing.provider, 64) ?? "",
    providerLabel: show(billing.providerLabel, 128) ?? "",
    model: show(billing.model, 256) ?? "",
    billingUrl: url.startsWith("https://") && url.length <= 2_048 ? url : "",
    isOwnAccount: billing.isOwnAccount,
    message: show(billing.message, LIMITS.resultStringCodePoints) ?? "",
    unverified: billing.unverified,
  };
}

function freeTier(notice: { readonly kind: string; readonly message: string }, show: Show): FreeTierNotice {
  return { kind: show(notice.kind, 64) ?? "", message: show(notice.message, LIMITS.resultStringCodePoints) ?? "" };
}

function minimum(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
