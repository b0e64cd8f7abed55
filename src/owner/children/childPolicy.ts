import { ApprovalMode, Policy } from "../../gen/talaria/types/v1/policy.js";
import type { ClaimedInput } from "../../store/turns/claimInput.js";

/**
 * The policy of a turn's children: its own. Where another gateway's message started the turn, nothing of theirs runs without asking:
 * their input is of this gateway's agent, which would hide whose wish it is.
 */
export function childPolicy({ policy, input }: Pick<ClaimedInput, "policy" | "input">): Uint8Array {
  if (input.author_kind !== "peer_agent" && input.author_kind !== "relay_agent") return policy;
  const parent = Policy.decode(policy);
  if (parent.approvals !== ApprovalMode.APPROVAL_MODE_ALLOW) return policy;
  return Policy.encode({ ...parent, approvals: ApprovalMode.APPROVAL_MODE_ASK }).finish();
}
