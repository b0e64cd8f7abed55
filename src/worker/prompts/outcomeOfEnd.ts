import { PromptEnd } from "../../gen/talaria/types/v1/prompt.js";
import type { PromptOutcome } from "./promptTable.js";

/** What an owner's answer means: only ANSWERED carries one; an end that is not known counts as stopped. */
export function outcomeOfEnd<Answer>(end: PromptEnd, answer: Answer): PromptOutcome<Answer> {
  switch (end) {
    case PromptEnd.PROMPT_END_ANSWERED:
      return { kind: "answered", answer };
    case PromptEnd.PROMPT_END_EXPIRED:
      return { kind: "expired" };
    case PromptEnd.PROMPT_END_HEADLESS:
      return { kind: "headless" };
    default:
      return { kind: "stopped" };
  }
}
