import { ApprovalChoice, clarifyOutcomeToJSON } from "../../../gen/talaria/types/v1/prompt.js";
import type { AskedQuestion } from "./directive.js";
import type { EchoTurn } from "./echoTurn.js";

const CHOICES: Readonly<Partial<Record<ApprovalChoice, string>>> = {
  [ApprovalChoice.APPROVAL_CHOICE_ONCE]: "once",
  [ApprovalChoice.APPROVAL_CHOICE_SESSION]: "session",
  [ApprovalChoice.APPROVAL_CHOICE_ALWAYS]: "always",
};

/** Asks approval for a command. */
export async function askApproval({ context }: EchoTurn, command: string): Promise<string> {
  const { allowed, choice, cause } = await context.approve({
    command,
    description: "The echo runtime was told to ask.",
    allowSession: true,
    allowPermanent: true,
    smartDenied: false,
    edit: undefined,
  });
  if (!allowed) return `denied: ${cause}`;
  return `approved: ${choice === undefined ? cause : (CHOICES[choice] ?? cause)}`;
}

/** Asks a batch of questions; they are called q1, q2 and so on. */
export async function askQuestions({ context }: EchoTurn, questions: readonly AskedQuestion[]): Promise<string> {
  const batch = questions.map(({ text, choices }, index) => ({
    questionId: `q${String(index + 1)}`,
    text,
    choices: [...choices],
    multiSelect: false,
  }));
  const { outcome, answers } = await context.ask(batch);
  const word = clarifyOutcomeToJSON(outcome).replace("CLARIFY_OUTCOME_", "").toLowerCase();
  return [`clarify: ${word}`, ...Object.entries(answers).map(([id, answer]) => `${id}: ${answer}`)].join("\n");
}
