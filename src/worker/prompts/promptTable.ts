import type { Clock } from "../../base/clock.js";
import { createDeferred } from "../../base/deferred.js";
import { newId } from "../../base/ids.js";
import type { Random } from "../../base/random.js";
import { PromptEnd } from "../../gen/talaria/types/v1/prompt.js";
import type { WorkerFrame } from "../frameSender.js";

/** How a prompt ended, and with what answer. */
export type PromptOutcome<Answer> =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "expired" }
  | { readonly kind: "stopped" }
  | { readonly kind: "headless" }
  /** Too many were open, here or at the owner. */
  | { readonly kind: "refused" };

/** What {@link PromptTable} needs. */
export interface PromptTableOptions {
  /** Sends a frame in order. */
  readonly send: (frame: WorkerFrame) => Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborts with the first Stop. */
  readonly stopped: AbortSignal;
  /** Most prompts open at once, both kinds together. */
  readonly limit: number;
}

interface OpenPrompt {
  readonly settle: (outcome: PromptOutcome<unknown>, tell: boolean) => void;
}

/** The open prompts of the execution, of both kinds: one counter, one way to end for each. */
export class PromptTable {
  readonly #options: PromptTableOptions;
  readonly #open = new Map<string, OpenPrompt>();

  constructor(options: PromptTableOptions) {
    this.#options = options;
    options.stopped.addEventListener("abort", () => {
      for (const prompt of [...this.#open.values()]) prompt.settle({ kind: "stopped" }, true);
    });
  }

  /** How many prompts are open. */
  get size(): number {
    return this.#open.size;
  }

  /**
   * Raises a prompt and waits for its end. Every end that happens here is told to the owner; one that it told us is not.
   * @param frame makes the frame for the id that the prompt gets.
   * @param expiresMs time for an answer; 0 = no bound.
   */
  async raise<Answer>(frame: (promptId: string) => WorkerFrame, expiresMs: number): Promise<PromptOutcome<Answer>> {
    const { stopped, limit, random, clock, send } = this.#options;
    if (stopped.aborted) return { kind: "stopped" };
    if (this.#open.size >= limit) return { kind: "refused" };
    const promptId = newId("prm", random);
    const end = createDeferred<PromptOutcome<Answer>>();
    const sent = send(frame(promptId));
    const settle = (outcome: PromptOutcome<unknown>, tell: boolean): void => {
      if (!this.#open.delete(promptId)) return;
      cancelTimer();
      end.resolve(outcome as PromptOutcome<Answer>);
      if (!tell) return;
      const why = outcome.kind === "expired" ? PromptEnd.PROMPT_END_EXPIRED : PromptEnd.PROMPT_END_STOPPED;
      // In the order of the frames it follows the prompt itself; a lost stream has its own reporter.
      send({ $case: "promptSettled", value: { promptId, end: why } }).catch(() => undefined);
    };
    this.#open.set(promptId, { settle });
    const cancelTimer =
      expiresMs === 0
        ? () => undefined
        : clock.after(expiresMs, () => {
            settle({ kind: "expired" }, true);
          });
    try {
      await sent;
    } catch {
      // Without a stream nobody can answer.
      settle({ kind: "stopped" }, false);
    }
    return end.promise;
  }

  /** Ends a prompt by the owner's word. @returns false where no such prompt is open, which changes nothing. */
  settle(promptId: string, outcome: PromptOutcome<unknown>): boolean {
    const prompt = this.#open.get(promptId);
    prompt?.settle(outcome, false);
    return prompt !== undefined;
  }
}
