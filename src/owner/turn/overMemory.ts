import { groupMembers } from "../../base/processTable.js";
import { residentBytesOf } from "../../base/residentBytes.js";
import { Policy } from "../../gen/talaria/types/v1/policy.js";
import type { ClaimedInput } from "../../store/turns/claimInput.js";
import type { Launch } from "../launch/launch.js";

/** Whether a turn's processes together hold more memory than its agent's ceiling; false where there is none. */
export function overMemory(claimed: Pick<ClaimedInput, "policy">, launch: Launch): boolean {
  const ceiling = Policy.decode(claimed.policy).limits?.memoryBytes ?? 0n;
  return ceiling > 0n && BigInt(residentBytesOf(groupMembers(launch.group.id))) > ceiling;
}
