import type { AnswerPromptRequest } from "../../gen/talaria/gateway/v1/turn_service.js";
import { ApprovalChoice, type Prompt } from "../../gen/talaria/types/v1/prompt.js";
import type { Terminal } from "../terminal.js";

const KEYS: readonly { readonly choice: ApprovalChoice; readonly key: string; readonly text: string }[] = [
  { choice: ApprovalChoice.APPROVAL_CHOICE_ONCE, key: "y", text: "yes, once" },
  { choice: ApprovalChoice.APPROVAL_CHOICE_SESSION, key: "s", text: "yes, in this session" },
  { choice: ApprovalChoice.APPROVAL_CHOICE_ALWAYS, key: "a", text: "always" },
  { choice: ApprovalChoice.APPROVAL_CHOICE_DENY, key: "n", text: "no" },
];

/** Asks a person what the agent asks; undefined where nobody answered before the prompt was withdrawn. */
export async function askPrompt(
  terminal: Pick<Terminal, "ask" | "out">,
  prompt: Prompt,
  withdrawn: AbortSignal,
): Promise<AnswerPromptRequest["answer"]> {
  const asked = prompt.request;
  switch (asked?.$case) {
    case "approval": {
      const { command, description, edit } = asked.value;
      terminal.out(`? ${description}\n  ${command}\n${edit === undefined ? "" : `${edit.diff}\n`}`);
      const offered = KEYS.filter(({ choice }) => prompt.offered.includes(choice));
      const question = `  ${offered.map(({ key, text }) => `${key} = ${text}`).join(", ")}: `;
      for (;;) {
        const line = await terminal.ask(question, withdrawn);
        if (line === undefined) return undefined;
        const found = offered.find(({ key }) => key === line.trim().toLowerCase());
        if (found !== undefined) return { $case: "choice", value: found.choice };
      }
    }
    case "clarify": {
      const { text = "", choices = [] } = asked.value.question ?? {};
      terminal.out(`? ${text}\n${choices.map((choice, index) => `  ${String(index + 1)}. ${choice}\n`).join("")}`);
      const line = await terminal.ask("  answer (empty skips): ", withdrawn);
      if (line === undefined) return undefined;
      return { $case: "text", value: choices[Number(line.trim()) - 1] ?? line };
    }
    case undefined:
      return undefined;
  }
}
