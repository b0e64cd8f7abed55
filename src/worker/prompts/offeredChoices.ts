import { ApprovalChoice, type ApprovalRequest } from "../../gen/talaria/types/v1/prompt.js";

/** The choices that an approval offers. Source: the comments of ApprovalRequest. */
export function offeredChoices(request: ApprovalRequest): readonly ApprovalChoice[] {
  const narrow = request.smartDenied || request.edit !== undefined;
  return [
    ApprovalChoice.APPROVAL_CHOICE_ONCE,
    ...(request.allowSession && !narrow ? [ApprovalChoice.APPROVAL_CHOICE_SESSION] : []),
    ...(request.allowPermanent && !narrow ? [ApprovalChoice.APPROVAL_CHOICE_ALWAYS] : []),
    ApprovalChoice.APPROVAL_CHOICE_DENY,
  ];
}
