import { z } from "zod";

import { countCodePoints } from "../../base/codePoints.js";
import { isId } from "../../base/ids.js";
import { LIMITS } from "../../base/limits.js";
import { parseTraceparent } from "../../rpc/traceContext.js";
import { agentField, idField, lineField, pageSizeField, pageTokenField, requestIdField } from "../edge/fields.js";

const MAX_TEXT_BYTES = 1_048_576;

/** The store keeps every character but this one. */
const withoutNul = z.string().refine((text) => !text.includes("\0"), "must not hold U+0000");

const traceField = z
  .object({
    traceparent: z
      .string()
      .refine((text) => text === "" || parseTraceparent(text) !== undefined, "is no W3C traceparent"),
    tracestate: z.string().max(512, "must have at most 512 bytes"),
  })
  .optional();

/** The checked form of RunTurnRequest. */
export const runTurnSchema = z.object({
  requestId: requestIdField,
  target: z.discriminatedUnion(
    "$case",
    [
      z.object({ $case: z.literal("sessionId"), value: idField("ses") }),
      z.object({ $case: z.literal("agent"), value: agentField.min(1, "must not be empty") }),
    ],
    { error: "is required: session_id or agent" },
  ),
  text: withoutNul
    .min(1, "must not be empty")
    .refine((text) => Buffer.byteLength(text) <= MAX_TEXT_BYTES, "must have at most 1,048,576 bytes"),
  attachmentIds: z.array(idField("att")).max(LIMITS.attachments),
  headless: z.boolean(),
  sessionTitle: lineField(0, LIMITS.displayNameCodePoints),
  trace: traceField,
  answersPrompts: z.boolean(),
});

/** The checked form of the UploadAttachmentRequest that begins an upload. */
export const headerStepSchema = z.object({
  step: z.object({
    $case: z.literal("header"),
    value: z.object({
      requestId: requestIdField,
      mediaType: z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"], "is no image type that is taken"),
      sizeBytes: z
        .bigint()
        .min(1n, "must be at least 1")
        .max(BigInt(LIMITS.attachmentBytes), "must be at most 10,485,760")
        .transform(Number),
      sha256: z.instanceof(Uint8Array).refine((bytes) => bytes.length === 32, "must have 32 bytes"),
    }),
  }),
});

/** The checked form of WatchSessionRequest. */
export const watchSessionSchema = z.object({
  sessionId: idField("ses"),
  cursor: z.object({ epoch: z.bigint(), sequence: z.bigint() }).optional(),
  answersPrompts: z.boolean(),
  snapshotRows: z.int().min(0).max(LIMITS.pageSizeMax),
});

/** The checked form of GetTurnRequest. */
export const getTurnSchema = z.object({
  turn: z.discriminatedUnion(
    "$case",
    [
      z.object({ $case: z.literal("inputId"), value: idField("inp") }),
      z.object({ $case: z.literal("executionId"), value: idField("exe") }),
    ],
    { error: "is required: input_id or execution_id" },
  ),
});

/** The checked form of StopTurnRequest. */
export const stopTurnSchema = z.object({ requestId: requestIdField, executionId: idField("exe") });

/** The checked form of CancelInputRequest. */
export const cancelInputSchema = z.object({ requestId: requestIdField, inputId: idField("inp") });

/** The checked form of ListPromptsRequest. */
export const listPromptsSchema = z.object({
  sessionId: z.string().refine((text) => text === "" || isId("ses", text), "must be ses_ and 26 characters"),
  pageSize: pageSizeField,
  pageToken: pageTokenField,
});

/** The checked form of AnswerPromptRequest. */
export const answerPromptSchema = z.object({
  requestId: requestIdField,
  promptId: idField("prm"),
  answer: z.discriminatedUnion(
    "$case",
    [
      z.object({ $case: z.literal("choice"), value: z.int() }),
      z.object({
        $case: z.literal("text"),
        value: withoutNul.refine(
          (text) => countCodePoints(text) <= LIMITS.clarifyAnswerCodePoints,
          `must have at most ${String(LIMITS.clarifyAnswerCodePoints)} code points`,
        ),
      }),
    ],
    { error: "is required: choice or text" },
  ),
});

/** The checked form of AcknowledgeUnknownRequest. */
export const acknowledgeSchema = z.object({
  requestId: requestIdField,
  sessionId: idField("ses"),
  executionId: idField("exe"),
});
