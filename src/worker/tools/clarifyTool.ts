import { z } from "zod";

import { clarifyOutcomeToJSON } from "../../gen/talaria/types/v1/prompt.js";
import type { TurnContext } from "../turnContext.js";
import { defineTool } from "./defineTool.js";
import type { Tool } from "./tool.js";

const parameters = z.strictObject({
  questions: z
    .array(
      z.strictObject({
        question: z.string().min(1).max(4_096).describe("The question, which can be understood by itself."),
        choices: z.array(z.string().min(1).max(256)).max(16).optional().describe("Answers to choose from."),
        multi_select: z.boolean().optional().describe("True where several choices may be given."),
      }),
    )
    .min(1)
    .max(16)
    .describe("What to ask, in order."),
});

/** Asks the person whom the agent works for. */
export function clarifyTool({ ask }: Pick<TurnContext, "ask">): Tool {
  return defineTool({
    name: "clarify",
    description: [
      "Asks the person you work for, and waits for the answer.",
      "Use it where a wrong guess would cost more than a question; ask everything at once.",
      "Where nobody answers, go on as the notice says.",
    ],
    parameters,
    async run({ questions }) {
      const { outcome, answers, notice } = await ask(
        questions.map(({ question, choices = [], multi_select: multiSelect = false }, index) => ({
          questionId: `q${String(index + 1)}`,
          text: question,
          choices,
          multiSelect,
        })),
      );
      return JSON.stringify({
        outcome: clarifyOutcomeToJSON(outcome).replace("CLARIFY_OUTCOME_", "").toLowerCase(),
        answers: questions.map(({ question }, index) => ({
          question,
          answer: answers[`q${String(index + 1)}`] ?? null,
        })),
        notice,
      });
    },
  });
}
