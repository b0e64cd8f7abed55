import { exceedsCodePoints } from "../../base/codePoints.js";
import type { Approval, Clarify } from "../../gen/talaria/owner/v1/owner_service.js";
import type { ApprovalRequest, ClarifyRequest, Prompt } from "../../gen/talaria/types/v1/prompt.js";
import { RpcError } from "../../rpc/rpcError.js";

/** A worker's frame that raises a prompt. */
export type RaisedPrompt =
  { readonly $case: "approval"; readonly value: Approval } | { readonly $case: "clarify"; readonly value: Clarify };

const MAX_ID = 64;
const MAX_COMMAND = 16_384;
const MAX_DESCRIPTION = 4_096;
const MAX_PATH = 4_096;
const MAX_DIFF = 65_536;
const MAX_QUESTION = 4_096;
const MAX_CHOICE = 256;
/** Questions of a batch, and choices of a question. */
const MAX_ITEMS = 16;

/**
 * What a prompt asks, within the bounds of the contract: a worker cuts, its owner refuses, because every viewer and the store get it as it is.
 * @throws RpcError FRAME_INVALID naming the field.
 */
export function checkedRequest(raised: RaisedPrompt): NonNullable<Prompt["request"]> {
  const { promptId } = raised.value;
  if (promptId !== "" && promptId.length <= MAX_ID) {
    if (raised.$case === "approval" && raised.value.request !== undefined) {
      checkApproval(raised.value.request);
      return { $case: "approval", value: raised.value.request };
    }
    if (raised.$case === "clarify" && raised.value.request !== undefined) {
      checkQuestion(raised.value.request);
      return { $case: "clarify", value: raised.value.request };
    }
  }
  throw invalid("A prompt needs an id of 1 to 64 characters and a request.");
}

function checkApproval({ command, description, edit }: ApprovalRequest): void {
  checkText("approval.command", command, MAX_COMMAND);
  checkText("approval.description", description, MAX_DESCRIPTION);
  checkText("approval.edit.path", edit?.path ?? "", MAX_PATH);
  checkText("approval.edit.diff", edit?.diff ?? "", MAX_DIFF);
}

function checkQuestion({ question, total }: ClarifyRequest): void {
  checkText("clarify.question.question_id", question?.questionId ?? "", MAX_ID);
  checkText("clarify.question.text", question?.text ?? "", MAX_QUESTION);
  for (const choice of question?.choices ?? []) checkText("clarify.question.choices", choice, MAX_CHOICE);
  if ((question?.choices.length ?? 0) > MAX_ITEMS || total > MAX_ITEMS) {
    throw invalid("A batch has at most 16 questions, a question at most 16 choices.");
  }
}

function checkText(field: string, text: string, most: number): void {
  if (exceedsCodePoints(text, most)) throw invalid(`${field} has more than ${String(most)} code points.`);
}

function invalid(message: string): RpcError {
  return new RpcError("FRAME_INVALID", { message });
}
