import { cutToCodePoints, trimToCodePoints } from "../../base/codePoints.js";
import { LIMITS } from "../../base/limits.js";
import { ClarifyOutcome, type ClarifyAnswers, type ClarifyQuestion } from "../../gen/talaria/types/v1/prompt.js";
import type { PromptOutcome, PromptTable } from "./promptTable.js";

/** What {@link Clarifications} needs. */
export interface ClarificationsOptions {
  readonly table: PromptTable;
  /** True where nobody can answer. */
  readonly headless: boolean;
  /** Time for each answer, milliseconds; 0 = no bound. */
  readonly expiresMs: number;
}

/** Bounds of a question. Source: ClarifyQuestion and ClarifyRequest. */
const QUESTIONS = 16;
const QUESTION_LIMIT = 4_096;
const CHOICES = 16;
const CHOICE_LIMIT = 256;
const ID_LIMIT = 64;

const NOTICES = {
  submitted: "The person answered; questions without an answer were skipped. Go on with what you have.",
  cancelled: "The turn is being stopped, so the questions were withdrawn. Do not ask again; end now.",
  timedOut: "Nobody answered in time. Go on with your best judgement and say what you assumed.",
  skipped: "Nobody is there to answer, so nothing was asked. Go on with your best judgement and say what you assumed.",
  refused: "Too many questions are open at once, so this one was not asked. Settle the others first.",
} as const;

/** Asks a person questions, a batch at a time and each batch in order. */
export class Clarifications {
  readonly #options: ClarificationsOptions;

  constructor(options: ClarificationsOptions) {
    this.#options = options;
  }

  /**
   * Asks 1 to 16 questions, one after the other, and stops at the first that is not settled by a person. What lies over a
   * bound is cut. @throws RangeError for no question, more than 16 or an id that is used twice.
   */
  async ask(questions: readonly ClarifyQuestion[]): Promise<ClarifyAnswers> {
    const ids = new Set(questions.map(({ questionId }) => questionId));
    if (questions.length === 0 || questions.length > QUESTIONS) throw new RangeError("a batch has 1 to 16 questions");
    if (ids.size !== questions.length) throw new RangeError("each question of a batch needs an id of its own");
    if (this.#options.headless) return ended(ClarifyOutcome.CLARIFY_OUTCOME_SKIPPED, {}, NOTICES.skipped);
    const answers: Record<string, string> = {};
    for (const [index, question] of questions.entries()) {
      const request = { question: bounded(question), position: index + 1, total: questions.length };
      const outcome = await this.#options.table.raise<string>(
        (promptId) => ({ $case: "clarify", value: { promptId, request } }),
        this.#options.expiresMs,
      );
      if (outcome.kind !== "answered") return unanswered(outcome.kind, answers);
      const text = trimToCodePoints(outcome.answer, LIMITS.clarifyAnswerCodePoints);
      if (text !== "") answers[question.questionId] = text;
    }
    return ended(ClarifyOutcome.CLARIFY_OUTCOME_SUBMITTED, answers, NOTICES.submitted);
  }
}

function unanswered(
  kind: Exclude<PromptOutcome<never>["kind"], "answered">,
  answers: Record<string, string>,
): ClarifyAnswers {
  switch (kind) {
    case "stopped":
      return ended(ClarifyOutcome.CLARIFY_OUTCOME_CANCELLED, answers, NOTICES.cancelled);
    case "expired":
      return ended(ClarifyOutcome.CLARIFY_OUTCOME_TIMED_OUT, answers, NOTICES.timedOut);
    case "headless":
      return ended(ClarifyOutcome.CLARIFY_OUTCOME_SKIPPED, answers, NOTICES.skipped);
    case "refused":
      return ended(ClarifyOutcome.CLARIFY_OUTCOME_SKIPPED, answers, NOTICES.refused);
  }
}

function ended(outcome: ClarifyOutcome, answers: Record<string, string>, notice: string): ClarifyAnswers {
  return { outcome, answers, notice };
}

function bounded(question: ClarifyQuestion): ClarifyQuestion {
  return {
    questionId: cutToCodePoints(question.questionId, ID_LIMIT),
    text: cutToCodePoints(question.text, QUESTION_LIMIT, "…"),
    choices: question.choices.slice(0, CHOICES).map((choice) => cutToCodePoints(choice, CHOICE_LIMIT, "…")),
    multiSelect: question.multiSelect,
  };
}
