import type { Clock } from "../../../base/clock.js";
import { pause } from "../../../base/pause.js";
import type { Random } from "../../../base/random.js";
import type { ChatPrompt, ChatRequest, ChatTool } from "../../packages/modelPackages.js";
import type { AskedModel, ModelCallEnd, ModelCallReport } from "../../modelCallReport.js";
import type { CallBudget } from "./callBudget.js";
import type { ModelEndpoint } from "./modelEndpoint.js";
import { ModelFailureError, type ModelFailure } from "./modelFailure.js";
import { streamAnswer, type Answer, type AnswerProgress, type AnswerSinks, type AnswerUsage } from "./streamAnswer.js";

/** How a question to the model ended. */
export type Asked =
  | { readonly kind: "answered"; readonly answer: Answer; readonly progress: AnswerProgress }
  /** What came before it failed is in `progress`. */
  | { readonly kind: "failed"; readonly failure: ModelFailure; readonly progress: AnswerProgress }
  /** The limit on requests was reached before there was an answer. */
  | { readonly kind: "limit" };

/** One question. */
export interface Question {
  readonly prompt: ChatPrompt;
  readonly tools?: readonly ChatTool[];
  /** True lets the model call none of them. */
  readonly noCalls?: boolean;
  readonly sinks?: AnswerSinks;
  /** Filled as the answer comes, for who must know of a part of it. */
  readonly progress?: AnswerProgress;
}

/** What {@link ModelCaller} needs. */
export interface ModelCallerOptions {
  /** The model and then its fallbacks; at least one. */
  readonly endpoints: readonly [ModelEndpoint, ...ModelEndpoint[]];
  readonly budget: CallBudget;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly random: Random;
  /** The effort that is asked for; undefined for the model's own. */
  readonly effort: string | undefined;
  /** Told of every request that was made, with its figures where there are some. */
  readonly onRequest: (usage: AnswerUsage | undefined, endpoint: ModelEndpoint) => void;
  /** Begins the report of a request, for the turn's trace. */
  readonly trace: (asked: AskedModel) => ModelCallReport;
}

/** How often a request is repeated of which nothing has come. */
const REPEATS = 2;
/** First wait before a repetition where the provider names none, milliseconds; it doubles. */
const FIRST_WAIT_MS = 500;
/** Longest wait that is kept to; a provider that asks for more is not asked again. */
const LONGEST_WAIT_MS = 30_000;

const SILENT: AnswerSinks = { text: () => Promise.resolve(), reasoning: () => Promise.resolve() };

/** Asks a model, with the repetitions that are safe, and the next model where a quota refuses. */
export class ModelCaller {
  readonly #options: ModelCallerOptions;
  #current = 0;

  constructor(options: ModelCallerOptions) {
    this.#options = options;
  }

  /** The model that is asked: the first that no quota has refused. */
  get endpoint(): ModelEndpoint {
    const { endpoints } = this.#options;
    return endpoints[this.#current] ?? endpoints[0];
  }

  /** Asks. @throws the signal's reason once that aborts. */
  async ask(question: Question): Promise<Asked> {
    const { endpoints, signal, clock } = this.#options;
    const progress = question.progress ?? { text: "", reasoning: "", begun: false };
    for (let repeats = 0; ;) {
      signal.throwIfAborted();
      if (!this.#options.budget.take()) return { kind: "limit" };
      try {
        const answer = await this.#send(question, progress);
        return { kind: "answered", answer, progress };
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ModelFailureError)) throw error;
        this.#options.onRequest(undefined, this.endpoint);
        const { failure } = error;
        if (failure.reason === "PROVIDER_QUOTA" && !progress.begun && this.#current + 1 < endpoints.length) {
          this.#current += 1;
          repeats = 0;
          continue;
        }
        const waitMs = this.#waitMs(failure, repeats);
        if (!failure.again || repeats >= REPEATS || waitMs > LONGEST_WAIT_MS || this.#options.budget.left === 0) {
          return { kind: "failed", failure, progress };
        }
        repeats += 1;
        await pause(clock, waitMs, signal);
      }
    }
  }

  async #send(question: Question, progress: AnswerProgress): Promise<Answer> {
    const { signal, clock, effort, onRequest, trace } = this.#options;
    const { endpoint } = this;
    const { tools = [] } = question;
    const { provider, model } = endpoint.ref;
    const report = trace({ provider, model, host: endpoint.host });
    const request: ChatRequest = {
      prompt: question.prompt,
      abortSignal: signal,
      ...(report.traceparent === undefined ? {} : { headers: { traceparent: report.traceparent } }),
      ...(tools.length === 0
        ? {}
        : { tools: [...tools], toolChoice: { type: question.noCalls === true ? "none" : "auto" } }),
      ...(effort === undefined ? {} : { providerOptions: { openaiCompatible: { reasoningEffort: effort } } }),
    };
    const sinks = question.sinks ?? SILENT;
    try {
      const answer = await streamAnswer({
        model: endpoint.model,
        request,
        sinks,
        progress,
        clock,
        host: endpoint.host,
      });
      report.end(endOfAnswer(answer));
      onRequest(answer.usage, endpoint);
      return answer;
    } catch (error) {
      report.end({
        kind: "failed",
        reason:
          error instanceof ModelFailureError ? error.failure.reason : signal.aborted ? "TURN_STOPPED" : "INTERNAL",
      });
      throw error;
    }
  }

  #waitMs(failure: ModelFailure, repeats: number): number {
    if (failure.waitMs !== undefined) return failure.waitMs;
    // Half of it at random, so that the turns of one agent do not come back together.
    return FIRST_WAIT_MS * 2 ** repeats * (0.5 + this.#options.random.fraction() / 2);
  }
}

function endOfAnswer({ calls, usage, servedModel, cut }: Answer): ModelCallEnd {
  return {
    kind: "answered",
    servedModel,
    inputTokens: usage?.inputTokens ?? 0,
    outputTokens: usage?.outputTokens ?? 0,
    finishReason: cut ? "length" : calls.length > 0 ? "tool_calls" : "stop",
  };
}
