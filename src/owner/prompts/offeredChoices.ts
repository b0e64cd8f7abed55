import type { ApprovalRequest } from "../../gen/talaria/types/v1/prompt.js";
import { ApprovalChoice } from "../../gen/talaria/types/v1/prompt.js";

/**
 * The choices that an approval offers: once and deny always; the session and for ever where the request allows them, no policy
 * has advised against it and no edit is asked about.
 */
export function offeredChoices(request: ApprovalRequest): ApprovalChoice[] {
  const { APPROVAL_CHOICE_ONCE, APPROVAL_CHOICE_SESSION, APPROVAL_CHOICE_ALWAYS, APPROVAL_CHOICE_DENY } =
    ApprovalChoice;
  const lasting = !request.smartDenied && request.edit === undefined;
  const offered: ApprovalChoice[] = [APPROVAL_CHOICE_ONCE];
  if (lasting && request.allowSession) offered.push(APPROVAL_CHOICE_SESSION);
  if (lasting && request.allowPermanent) offered.push(APPROVAL_CHOICE_ALWAYS);
  offered.push(APPROVAL_CHOICE_DENY);
  return offered;
}
