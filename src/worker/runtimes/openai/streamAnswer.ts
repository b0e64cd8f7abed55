import type { Clock } from "../../../base/clock.js";
import { toWellFormed } from "../../../base/codePoints.js";
import type { ChatModel, ChatPart, ChatRequest } from "../../packages/modelPackages.js";
import { judgeConnectionError } from "./judgeConnectionError.js";
import { judgeRefusal } from "./judgeRefusal.js";
import { ModelFailureError, type ModelFailure } from "./modelFailure.js";
import { TextJoiner } from "./textJoiner.js";

/** A call that the model asks for. */
export interface RequestedCall {
  /** The model's id; one is made where it gave none. */
  readonly id: string;
  readonly name: string;
  /** Arguments as the model wrote them: JSON, if it can. */
  readonly argumentsJson: string;
}

/** Tokens and cost of one request, as the provider gave them. */
export interface AnswerUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly reasoningTokens: number;
  /** The provider's own figures. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** What has come of an answer so far; also what is left of one that broke. */
export interface AnswerProgress {
  text: string;
  reasoning: string;
  /** Whether anything of the answer has come: a request is never repeated afterwards. */
  begun: boolean;
}

/** A whole answer. */
export interface Answer {
  readonly calls: readonly RequestedCall[];
  /** Undefined where the provider gave none. */
  readonly usage: AnswerUsage | undefined;
  /** Model that the provider says it served. */
  readonly servedModel: string | undefined;
  /** Whether the provider cut the answer. */
  readonly cut: boolean;
}

/** Where the pieces of an answer go. */
export interface AnswerSinks {
  text(piece: string): Promise<void>;
  reasoning(piece: string): Promise<void>;
}

/** What {@link streamAnswer} needs besides the request. */
export interface StreamAnswerOptions {
  readonly model: ChatModel;
  readonly request: ChatRequest;
  readonly sinks: AnswerSinks;
  /** Filled as the answer comes. */
  readonly progress: AnswerProgress;
  readonly clock: Clock;
  /** Host of the endpoint, for messages. */
  readonly host: string;
}

/** Parts that are read before the event loop goes round once. */
const PARTS_IN_A_ROW = 32;

/**
 * Sends one request and passes its answer on piece by piece.
 * @throws ModelFailureError where the endpoint refuses, breaks or says nothing sensible; the signal's reason once that aborts.
 */
export async function streamAnswer(options: StreamAnswerOptions): Promise<Answer> {
  const { model, request, progress, host } = options;
  const signal = request.abortSignal;
  let reader: ReadableStreamDefaultReader<ChatPart> | undefined;
  try {
    const { stream } = await model.doStream(request);
    reader = stream.getReader();
    return await readParts(reader, options);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ModelFailureError) throw error;
    const failure = modelFailureIn(error) ?? judgeConnectionError(error, host);
    throw new ModelFailureError(progress.begun ? { ...failure, again: false } : failure);
  } finally {
    // Frees the connection, also of an answer that was left in the middle.
    await reader?.cancel().catch(() => undefined);
  }
}

async function readParts(
  reader: ReadableStreamDefaultReader<ChatPart>,
  { sinks, progress, clock, request }: StreamAnswerOptions,
): Promise<Answer> {
  const calls: RequestedCall[] = [];
  const text = new TextJoiner();
  const reasoning = new TextJoiner();
  let servedModel: string | undefined;
  let usage: AnswerUsage | undefined;
  let cut = false;
  for (let parts = 1; ; parts += 1) {
    // A stream that is faster than this loop would keep everything else from its turn, Stop too.
    if (parts % PARTS_IN_A_ROW === 0) await new Promise<void>((resolve) => clock.after(0, resolve));
    const { done, value: part } = await reader.read();
    request.abortSignal?.throwIfAborted();
    if (done) break;
    switch (part.type) {
      case "text-delta": {
        const piece = toWellFormed(text.add(part.delta));
        progress.begun = true;
        progress.text += piece;
        await sinks.text(piece);
        break;
      }
      case "reasoning-delta": {
        const piece = toWellFormed(reasoning.add(part.delta));
        progress.begun = true;
        progress.reasoning += piece;
        await sinks.reasoning(piece);
        break;
      }
      case "tool-call":
        progress.begun = true;
        calls.push({ id: part.toolCallId, name: part.toolName, argumentsJson: part.input });
        break;
      case "response-metadata":
        servedModel = part.modelId;
        break;
      case "error": {
        const failure = failureOfPart(part.error, clock.now());
        if (failure !== undefined) throw new ModelFailureError({ ...failure, again: failure.again && !progress.begun });
        break;
      }
      case "finish": {
        const { inputTokens, outputTokens } = part.usage;
        cut = part.finishReason.unified === "length";
        if (part.usage.raw === undefined) break;
        usage = {
          inputTokens: inputTokens.total ?? 0,
          outputTokens: outputTokens.total ?? 0,
          cacheReadTokens: inputTokens.cacheRead ?? 0,
          reasoningTokens: outputTokens.reasoning ?? 0,
          raw: part.usage.raw,
        };
        break;
      }
      default:
        // Marks of where texts and calls begin and end.
        break;
    }
  }
  return { calls, usage, servedModel, cut };
}

/** What an error inside a stream means; undefined for a chunk that only says nothing. */
function failureOfPart(error: unknown, now: number): ModelFailure | undefined {
  const given = modelFailureIn(error);
  if (given !== undefined) return given;
  if (error instanceof Error) {
    const value = "value" in error ? error.value : undefined;
    if (typeof value === "object" && value !== null) {
      // Some servers send chunks of their own between those of the answer.
      if (!("choices" in value) && !("error" in value)) return undefined;
      // Figures that are none fail no answer.
      if ("choices" in value && Array.isArray(value.choices) && value.choices.length === 0) return undefined;
      if ("error" in value) return judgeRefusal({ status: undefined, headers: {}, body: JSON.stringify(value) }, now);
    }
    return {
      reason: "PROVIDER_SERVER",
      message: `The model's stream is broken: ${error.message.split("\n")[0]?.slice(0, 200) ?? ""}`,
      retryable: true,
      again: true,
    };
  }
  return judgeRefusal({ status: undefined, headers: {}, body: JSON.stringify({ error }) }, now);
}

/** The failure inside an error that was wrapped on its way, at most four deep. */
function modelFailureIn(error: unknown): ModelFailure | undefined {
  let at = error;
  for (let depth = 0; depth < 4 && at instanceof Error; depth += 1) {
    if (at instanceof ModelFailureError) return at.failure;
    at = at.cause;
  }
  return undefined;
}
