import type { AnswerPromptRequest } from "../../gen/talaria/gateway/v1/turn_service.js";
import {
  ApprovalChoice,
  type ApprovalRequest,
  type ClarifyRequest,
  type Prompt,
} from "../../gen/talaria/types/v1/prompt.js";
import type { Terminal } from "../terminal.js";
import { printable } from "./printable.js";

const KEYS: readonly { readonly choice: ApprovalChoice; readonly key: string; readonly text: string }[] = [
  { choice: ApprovalChoice.APPROVAL_CHOICE_ONCE, key: "y", text: "yes, once" },
  { choice: ApprovalChoice.APPROVAL_CHOICE_SESSION, key: "s", text: "yes, in this session" },
  { choice: ApprovalChoice.APPROVAL_CHOICE_ALWAYS, key: "a", text: "always" },
  { choice: ApprovalChoice.APPROVAL_CHOICE_DENY, key: "n", text: "no" },
];

type AskingTerminal = Pick<Terminal, "ask" | "out" | "paint">;

/**
 * Asks a person what the agent asks. The end of the input counts as a refusal, and as a skipped question.
 * @returns undefined where the prompt was withdrawn first
 */
export async function askPrompt(
  terminal: AskingTerminal,
  prompt: Prompt,
  withdrawn: AbortSignal,
): Promise<AnswerPromptRequest["answer"]> {
  switch (prompt.request?.$case) {
    case "approval":
      return askApproval(terminal, prompt.request.value, prompt.offered, withdrawn);
    case "clarify":
      return askQuestion(terminal, prompt.request.value, withdrawn);
    case undefined:
      return undefined;
  }
}

async function askApproval(
  terminal: AskingTerminal,
  { command, description, edit, smartDenied }: ApprovalRequest,
  offeredChoices: readonly ApprovalChoice[],
  withdrawn: AbortSignal,
): Promise<AnswerPromptRequest["answer"]> {
  const mark = terminal.paint("out", ["bold", "yellow"], "?");
  terminal.out(`${mark} ${printable(description)}\n  ${printable(command).replaceAll("\n", "\n  ")}\n`);
  if (edit !== undefined) terminal.out(`${printable(edit.path)}\n${printable(edit.diff)}\n`);
  if (smartDenied) terminal.out("  A policy advises against it.\n");
  const offered = KEYS.filter(({ choice }) => offeredChoices.includes(choice));
  const question = `  ${offered.map(({ key, text }) => `${key} = ${text}`).join(", ")}: `;
  for (;;) {
    const line = await terminal.ask(question, withdrawn);
    if (withdrawn.aborted) return undefined;
    if (line === undefined) return { $case: "choice", value: ApprovalChoice.APPROVAL_CHOICE_DENY };
    const found = offered.find(({ key }) => key === line.trim().toLowerCase());
    if (found !== undefined) return { $case: "choice", value: found.choice };
  }
}

async function askQuestion(
  terminal: AskingTerminal,
  { question, position, total }: ClarifyRequest,
  withdrawn: AbortSignal,
): Promise<AnswerPromptRequest["answer"]> {
  const { text = "", choices = [], multiSelect = false } = question ?? {};
  const mark = terminal.paint("out", ["bold", "yellow"], "?");
  const place = total > 1 ? `(${String(position)}/${String(total)}) ` : "";
  terminal.out(
    `${mark} ${place}${printable(text)}\n${choices.map((choice, index) => `  ${String(index + 1)}. ${printable(choice)}\n`).join("")}`,
  );
  const line = await terminal.ask(`  answer${multiSelect ? ", several by commas" : ""} (empty skips): `, withdrawn);
  if (withdrawn.aborted) return undefined;
  return { $case: "text", value: answerText((line ?? "").trim(), choices, multiSelect) };
}

/** What a typed line answers: numbers stand for the choices. */
export function answerText(line: string, choices: readonly string[], multiSelect: boolean): string {
  const named = (part: string): string => choices[Number(part.trim()) - 1] ?? part.trim();
  if (!multiSelect) return named(line);
  return line.split(",").map(named).join("\n");
}
