import type { Prompt } from "../../gen/talaria/types/v1/prompt.js";
import type { ApprovalChoice } from "../../gen/talaria/types/v1/prompt.js";
import { invalidField, reasonError, RpcError } from "../../rpc/rpcError.js";
import { promptRow } from "../../store/turns/promptRow.js";
import type { Owner } from "../owner.js";
import type { PromptAnswer } from "./promptDesk.js";
import { choiceName, toPrompt } from "./promptRecord.js";

/** What a person answers. */
export type GivenAnswer =
  { readonly kind: "choice"; readonly choice: ApprovalChoice } | { readonly kind: "text"; readonly text: string };

/**
 * Answers one prompt by its exact id; the same answer by the same principal again is taken as a repeat.
 * @throws RpcError UNKNOWN_PROMPT; PROMPT_ALREADY_RESOLVED for a late answer; PROMPT_CHOICE_NOT_OFFERED; INVALID_FIELD for
 *   an answer of the other kind.
 */
export async function answerPrompt(owner: Owner, promptId: string, given: GivenAnswer, by: string): Promise<Prompt> {
  const { reader } = owner.parts.store;
  const row = promptRow(reader, promptId);
  if (row === undefined) throw reasonError("UNKNOWN_PROMPT");
  const prompt = toPrompt(row);
  const answer = check(prompt, given);
  if (row.end !== null) {
    // A caller whose answer was lost on the way back says the same again.
    const said = answer.kind === "choice" ? answer.name : answer.text;
    if (row.end === "answered" && row.answered_by === by && row.answer === said) return prompt;
    throw new RpcError("PROMPT_ALREADY_RESOLVED", { metadata: { end: row.end } });
  }
  const desk = owner.turn(row.execution_id)?.desk;
  if (desk === undefined || !(await desk.end(promptId, "answered", { answer, by }))) {
    throw new RpcError("PROMPT_ALREADY_RESOLVED", { metadata: { end: promptRow(reader, promptId)?.end ?? "" } });
  }
  const after = promptRow(reader, promptId);
  return after === undefined ? prompt : toPrompt(after);
}

function check(prompt: Prompt, given: GivenAnswer): PromptAnswer {
  if (given.kind === "text") {
    if (prompt.request?.$case !== "clarify")
      throw invalidField("text", "answers a question; this prompt is an approval");
    return given;
  }
  if (prompt.request?.$case !== "approval") {
    throw invalidField("choice", "answers an approval; this prompt is a question");
  }
  const name = choiceName(given.choice);
  if (name === undefined || !prompt.offered.includes(given.choice)) throw new RpcError("PROMPT_CHOICE_NOT_OFFERED");
  return { kind: "choice", name, choice: given.choice };
}
