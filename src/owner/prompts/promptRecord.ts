import { ApprovalChoice, Prompt, PromptEnd } from "../../gen/talaria/types/v1/prompt.js";
import { toAuthor } from "../../rpc/wire/author.js";
import { clientAuthor } from "../records/clientAuthor.js";
import type { StoredPromptEnd } from "../../store/turns/endPrompt.js";
import type { PromptRow } from "../../store/turns/promptRow.js";

const ENDS: Readonly<Record<StoredPromptEnd, PromptEnd>> = {
  answered: PromptEnd.PROMPT_END_ANSWERED,
  expired: PromptEnd.PROMPT_END_EXPIRED,
  stopped: PromptEnd.PROMPT_END_STOPPED,
  withdrawn: PromptEnd.PROMPT_END_WITHDRAWN,
  execution_ended: PromptEnd.PROMPT_END_EXECUTION_ENDED,
  headless: PromptEnd.PROMPT_END_HEADLESS,
  coalesced: PromptEnd.PROMPT_END_COALESCED,
};

const CHOICES: Readonly<Record<string, ApprovalChoice>> = {
  once: ApprovalChoice.APPROVAL_CHOICE_ONCE,
  session: ApprovalChoice.APPROVAL_CHOICE_SESSION,
  always: ApprovalChoice.APPROVAL_CHOICE_ALWAYS,
  deny: ApprovalChoice.APPROVAL_CHOICE_DENY,
};

/** An end as the contract writes it. */
export function toPromptEnd(end: StoredPromptEnd): PromptEnd {
  return ENDS[end];
}

/** The stored name of an end that a worker reports; undefined for one that is not a worker's to report. */
export function fromWorkerEnd(end: PromptEnd): StoredPromptEnd | undefined {
  switch (end) {
    case PromptEnd.PROMPT_END_EXPIRED:
      return "expired";
    case PromptEnd.PROMPT_END_STOPPED:
      return "stopped";
    case PromptEnd.PROMPT_END_WITHDRAWN:
      return "withdrawn";
    case PromptEnd.PROMPT_END_COALESCED:
      return "coalesced";
    default:
      return undefined;
  }
}

/** The stored name of a choice; undefined for one that does not exist. */
export function choiceName(choice: ApprovalChoice): string | undefined {
  return Object.entries(CHOICES).find(([, value]) => value === choice)?.[0];
}

/** A stored prompt as viewers see it. */
export function toPrompt(row: PromptRow): Prompt {
  const prompt = Prompt.decode(row.request);
  if (row.end === null) return prompt;
  const approval = prompt.request?.$case === "approval";
  return {
    ...prompt,
    end: toPromptEnd(row.end as StoredPromptEnd),
    answeredBy: row.answered_by === null ? undefined : toAuthor(clientAuthor(row.answered_by)),
    choice:
      (approval && row.answer !== null ? CHOICES[row.answer] : undefined) ?? ApprovalChoice.APPROVAL_CHOICE_UNSPECIFIED,
  };
}
