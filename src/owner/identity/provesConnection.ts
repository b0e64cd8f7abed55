import type { ProcessTable } from "../../base/processTable.js";
import { isAlive } from "../../base/processTable.js";
import type { PeerCredentials } from "../../rpc/peerCredentials.js";
import type { WorkerEvidence } from "./workerEvidence.js";

/**
 * Whether a connection beside the Attach stream's is the proved worker's own: the kernel names the same process and user, and that
 * process still has the birth that was proved. What the first proof had, the second must have; where the kernel says nothing, pid and
 * birth remain, beside the secret that Adopt asks for. Source: DESIGN section 4.
 * @param peer what the kernel says about the connection; undefined where it does not say.
 */
export function provesConnection(
  peer: PeerCredentials | undefined,
  evidence: Pick<WorkerEvidence, "process" | "uid" | "factors">,
  table: ProcessTable,
): boolean {
  const { pid, birthTicks } = evidence.process;
  if (peer === undefined && evidence.factors.includes("peer_credentials")) return false;
  if (peer !== undefined && (peer.pid !== pid || peer.uid !== evidence.uid)) return false;
  const facts = table.read(pid);
  return isAlive(facts) && facts.birthTicks === birthTicks;
}
