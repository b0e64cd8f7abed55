import { SecretRegistry } from "../../../base/secretRegistry.js";
import { RetryMode } from "../../../gen/talaria/owner/v1/owner_service.js";
import { DeltaChannel } from "../../../gen/talaria/types/v1/event.js";
import type { ChatTool } from "../../packages/modelPackages.js";
import type { Tool } from "../../tools/tool.js";
import type { TurnContext } from "../../turnContext.js";
import { inputRowOf } from "../conversation/inputRowOf.js";
import { inputText } from "../conversation/inputText.js";
import type { InputImage } from "../conversation/readImages.js";
import type { RuntimeAnswer, RuntimeFailure } from "../runtime.js";
import { answerFacts } from "./answerFacts.js";
import type { CallBudget } from "./callBudget.js";
import { compactRows } from "./compact.js";
import type { Asked, ModelCaller } from "./modelCaller.js";
import type { ModelEndpoint } from "./modelEndpoint.js";
import { planCompaction } from "./planCompaction.js";
import { promptOf, type PromptParts } from "./promptOf.js";
import type { AuxiliaryCalls } from "./recordAuxiliary.js";
import type { Answer, AnswerProgress, AnswerSinks } from "./streamAnswer.js";
import { runToolRound } from "./toolRound.js";
import { boundedCalls, Transcript } from "./transcript.js";

/** What a turn works with. */
export interface TurnWork {
  readonly context: TurnContext;
  readonly endpoints: readonly ModelEndpoint[];
  /** Asks for the turn's own answers. */
  readonly caller: ModelCaller;
  /** Asks for summaries, against the same limit. */
  readonly quietCaller: ModelCaller;
  readonly auxiliary: AuxiliaryCalls;
  readonly budget: CallBudget;
  readonly tools: readonly Tool[];
  readonly images: readonly InputImage[];
}

const LAST_CALL = "[This is the last request of this turn: no tool can be called any more. Answer with what you have.]";

const ANSWERS_MESSAGE =
  "Your answer to this message goes back to its author, who sees nothing else of this turn. " +
  "Where nothing needs to be said, answer with [SILENT] and nothing else.";

/**
 * Asks the model, runs the tools it asks for and asks again, until it answers without. What it asked for is in the store before a tool
 * runs, and each result when it comes: whatever dies, the transcript says how far the turn had come.
 */
export async function runTurn(work: TurnWork): Promise<RuntimeAnswer> {
  const progress: AnswerProgress = { text: "", reasoning: "", begun: false };
  const turn = new TurnLoop(work, progress);
  try {
    return await turn.run();
  } catch (error) {
    // Stop ends the turn where it stands; what was said stays said.
    if (work.context.signal.aborted) return turn.end({ text: progress.text });
    throw error;
  }
}

class TurnLoop {
  readonly #work: TurnWork;
  /** What has come of the answer that is under way. */
  readonly #progress: AnswerProgress;
  readonly #transcript: Transcript;
  readonly #secrets = new SecretRegistry();
  #compacted = false;
  #rounds = 0;
  /** Whether something was said in an earlier answer of the turn. */
  #said = false;
  #last: Answer | undefined;

  constructor(work: TurnWork, progress: AnswerProgress) {
    this.#work = work;
    this.#progress = progress;
    const { store, assignment } = work.context;
    this.#transcript = new Transcript(store, assignment.executionId);
    for (const { key } of work.endpoints) if (key !== "") this.#secrets.add(key);
  }

  async run(): Promise<RuntimeAnswer> {
    const { context, budget } = this.#work;
    await this.#transcript.read();
    if (context.assignment.input.retryMode === RetryMode.RETRY_MODE_COMPRESS_THEN_RESUME) {
      const failure = await this.#compact(undefined);
      if (failure !== undefined) return this.end({ text: "", failure });
    }
    for (;;) {
      const isLast = this.#rounds > 0 && budget.left === 1;
      const asked = await this.#ask(isLast);
      switch (asked.kind) {
        case "limit":
          return this.#endAtLimit("");
        case "failed": {
          const failure = await this.#mend(asked.failure);
          if (failure === undefined) continue;
          const { text } = this.#progress;
          return this.end({ text, partial: text !== "", failure });
        }
        case "answered": {
          this.#last = asked.answer;
          const calls = boundedCalls(asked.answer.calls);
          const { text } = this.#progress;
          if (calls.length > 0 && (isLast || budget.left === 0)) return this.#endAtLimit(text);
          if (calls.length === 0) {
            return this.end({ text, partial: asked.answer.cut, ...(isLast ? { modelCallLimit: true } : {}) });
          }
          await this.#transcript.addCalls(text, this.#progress.reasoning, calls);
          this.#reset();
          await runToolRound({
            context,
            tools: this.#work.tools,
            calls,
            hide: (result) => this.#secrets.hide(result),
            onResult: (result) => this.#transcript.addResult(result),
          });
          this.#rounds += 1;
        }
      }
    }
  }

  /** An answer with what is known of the models. */
  end(answer: RuntimeAnswer): RuntimeAnswer {
    return { ...answerFacts(this.#work, this.#last, answer.failure), ...answer };
  }

  #endAtLimit(text: string): RuntimeAnswer {
    const limit = String(this.#work.budget.limit);
    return this.end({
      text:
        text === "" ? `The turn reached its limit of ${limit} requests to the model before there was an answer.` : text,
      partial: true,
      modelCallLimit: true,
    });
  }

  async #ask(isLast: boolean): Promise<Asked> {
    this.#reset();
    const prompt = promptOf(this.#promptParts());
    return this.#work.caller.ask({
      prompt: isLast ? [...prompt, { role: "user", content: [{ type: "text", text: LAST_CALL }] }] : prompt,
      tools: this.#work.tools.map(chatTool),
      noCalls: isLast,
      sinks: this.#sinks(),
      progress: this.#progress,
    });
  }

  /** Makes room where that is what is wanting, once. @returns the failure that stays. */
  async #mend(failure: RuntimeFailure): Promise<RuntimeFailure | undefined> {
    if (failure.reason !== "CONTEXT_OVERFLOW" || this.#compacted || this.#progress.begun) return failure;
    return this.#compact(failure);
  }

  /** @param refusal what a summary is made for; undefined where one is made ahead. @returns why there is no summary. */
  async #compact(refusal: RuntimeFailure | undefined): Promise<RuntimeFailure | undefined> {
    this.#compacted = true;
    const parts = this.#promptParts();
    const range = planCompaction(parts.rows, inputRowOf(parts)?.row);
    if (range === undefined) return refusal;
    const compacted = await compactRows({
      range,
      caller: this.#work.quietCaller,
      store: this.#work.context.store,
      calls: this.#work.auxiliary,
      refusedSize: refusal === undefined ? undefined : JSON.stringify(promptOf({ ...parts, images: [] })).length,
    });
    if (compacted.kind === "failed") return compacted.failure;
    if (compacted.kind === "limit") return refusal;
    await this.#transcript.read();
    return undefined;
  }

  #promptParts(): PromptParts {
    const { assignment } = this.#work.context;
    const { policy, input, executionId, rosterInstructions } = assignment;
    return {
      instructions: [
        policy.instructions,
        rosterInstructions,
        input.deliveryId === "" ? "" : ANSWERS_MESSAGE,
        policy.ephemeralInstructions,
      ],
      prefill: policy.prefillMessages,
      rows: this.#transcript.rows,
      executionId,
      attempt: input.attempt,
      text: inputText(input),
      images: this.#work.images,
    };
  }

  #sinks(): AnswerSinks {
    const { context } = this.#work;
    let first = this.#said;
    return {
      text: async (piece) => {
        if (piece === "") return;
        // Answers of one turn are paragraphs of what the viewers read.
        const shown = first ? `\n\n${piece}` : piece;
        first = false;
        this.#said = true;
        await context.emitText(shown);
      },
      reasoning: (piece) => context.emitText(piece, DeltaChannel.DELTA_CHANNEL_REASONING),
    };
  }

  #reset(): void {
    this.#progress.text = "";
    this.#progress.reasoning = "";
    this.#progress.begun = false;
  }
}

function chatTool({ name, description, parameters }: Tool): ChatTool {
  return { type: "function", name, description, inputSchema: parameters };
}
