import { approvalChoiceToJSON, type ApprovalChoice, type Prompt } from "../../gen/talaria/types/v1/prompt.js";
import { shortName } from "./names.js";
import { visible } from "./visible.js";

/** What a prompt asks, on one line of at most `limit` characters. */
export function questionOf({ request }: Prompt, limit?: number): string {
  switch (request?.$case) {
    case "approval":
      return visible(`run ${request.value.command}`, limit);
    case "clarify":
      return visible(request.value.question?.text ?? "", limit);
    case undefined:
      return "";
  }
}

/** How a choice is called: `once`, `session`, `always` or `deny`. */
export function choiceName(choice: ApprovalChoice): string {
  return shortName(approvalChoiceToJSON(choice), "APPROVAL_CHOICE_");
}
