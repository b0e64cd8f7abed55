import type { AnswerPromptRequest } from "../../gen/talaria/gateway/v1/turn_service.js";
import type { Prompt } from "../../gen/talaria/types/v1/prompt.js";
import { choiceName, questionOf } from "../render/promptText.js";
import type { Key } from "./topState.js";

/** An answer being given to a prompt. */
export interface AnswerDialog {
  readonly promptId: string;
  /** What is asked, on one line. */
  readonly question: string;
  /** Answers to choose from by number; with none, only text. */
  readonly options: readonly AnswerOption[];
  /** Whether text may be typed. */
  readonly takesText: boolean;
  /** What was typed so far. */
  readonly text: string;
}

/** An offered answer. */
export interface AnswerOption {
  readonly label: string;
  readonly answer: NonNullable<AnswerPromptRequest["answer"]>;
}

/** Longest text that is taken, code units; the gateway takes more, from the command line. */
const MAX_TEXT = 1_024;

/** Opens the dialog of a prompt. */
export function answerDialog(prompt: Prompt): AnswerDialog {
  const choices = prompt.request?.$case === "clarify" ? (prompt.request.value.question?.choices ?? []) : [];
  const options =
    prompt.request?.$case === "approval"
      ? prompt.offered.map((choice) => ({
          label: choiceName(choice),
          answer: { $case: "choice" as const, value: choice },
        }))
      : choices.map((choice) => ({ label: choice, answer: { $case: "text" as const, value: choice } }));
  return {
    promptId: prompt.promptId,
    question: questionOf(prompt),
    options,
    takesText: prompt.request?.$case === "clarify",
    text: "",
  };
}

/** Takes a key. An empty text is no answer: escape leaves the question open. */
export function stepDialog(
  dialog: AnswerDialog,
  { text, name }: Key,
): { readonly dialog: AnswerDialog | undefined; readonly answer?: NonNullable<AnswerPromptRequest["answer"]> } {
  if (name === "escape") return { dialog: undefined };
  if (name === "backspace") return { dialog: { ...dialog, text: dialog.text.slice(0, -1) } };
  if (name === "return") {
    const value = dialog.text.trim();
    return dialog.takesText && value !== "" ? { dialog: undefined, answer: { $case: "text", value } } : { dialog };
  }
  const option = dialog.text === "" ? dialog.options[Number(text) - 1] : undefined;
  if (option !== undefined) return { dialog: undefined, answer: option.answer };
  if (!dialog.takesText || name !== undefined) return { dialog };
  return { dialog: { ...dialog, text: `${dialog.text}${text}`.slice(0, MAX_TEXT) } };
}
