import { z } from "zod";

import { exceedsCodePoints } from "../../base/codePoints.js";
import { LIMITS } from "../../base/limits.js";

/** Largest token count that a receipt may carry. */
const MAX_COUNT = BigInt(LIMITS.counter);
/** Largest answer inside the receipt, bytes. */
const MAX_INLINE_ANSWER = 1_048_576;

const text = (limit: number) =>
  z.string().refine((value) => !exceedsCodePoints(value, limit), `has more than ${String(limit)} code points`);
const count = z.bigint().min(0n).max(MAX_COUNT);

/** The bounds of the contract's TurnResult, field by field. The worker cuts, the owner refuses. */
export const resultSchema = z.object({
  finalResponse: z
    .string()
    .refine((value) => Buffer.byteLength(value) <= MAX_INLINE_ANSWER, "is too long; send it in chunks"),
  error: text(LIMITS.resultStringCodePoints).optional(),
  usageWindowMessage: text(LIMITS.resultStringCodePoints).optional(),
  model: text(256).optional(),
  provider: text(64).optional(),
  requestedModel: text(256).optional(),
  servedModel: text(256).optional(),
  serviceTier: text(64).optional(),
  promptTokens: count,
  completionTokens: count,
  totalTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  reasoningTokens: count,
  turnInputTokens: count.optional(),
  turnOutputTokens: count.optional(),
  estimatedCostUsd: z.number().min(0).max(LIMITS.costUsd).optional(),
  costSource: text(256).optional(),
  billingBlock: z
    .object({
      provider: text(64),
      providerLabel: text(128),
      model: text(256),
      billingUrl: z.union([z.literal(""), z.url({ protocol: /^https$/ }).max(2_048)]),
      message: text(LIMITS.resultStringCodePoints),
    })
    .optional(),
  freeTier: z.object({ kind: text(64), message: text(LIMITS.resultStringCodePoints) }).optional(),
  answer: z
    .object({ sha256: z.instanceof(Uint8Array).refine((bytes) => bytes.length === 32, "must be 32 bytes") })
    .optional(),
});
