import { LIMITS } from "../../base/limits.js";
import type { ProcessIdentity } from "../../base/processIdentity.js";
import type { ProcessTable } from "../../base/processTable.js";
import { ancestorsOf, isAlive } from "../../base/processTable.js";
import type { Hello } from "../../gen/talaria/owner/v1/owner_service.js";
import type { PeerCredentials } from "../../rpc/peerCredentials.js";
import type { Reason } from "../../rpc/reasons.js";
import type { ProofFactor } from "./workerEvidence.js";

/** Contract revisions that this owner speaks. */
export const PROTOCOL = Object.freeze({ min: 1, max: 1 });

/** What a proof is made from, besides the token, which has found the launch. */
export interface ProofInput {
  readonly hello: Hello;
  /** What the kernel says about the connection; undefined where it does not say. */
  readonly peer: PeerCredentials | undefined;
  /** The launched process. */
  readonly launched: ProcessIdentity;
  /** The owner's own process id. */
  readonly ownPid: number;
  /** The owner's user id; undefined where there is none. */
  readonly ownUid: number | undefined;
}

/** Whether a worker is believed. */
export type ProofVerdict =
  | {
      readonly kind: "proved";
      readonly process: ProcessIdentity;
      readonly factors: readonly ProofFactor[];
      readonly launcherHops: number;
    }
  | { readonly kind: "refused"; readonly reason: Reason };

/**
 * Proves a worker that brought the right token: pid and birth as the owner itself reads them, the launched process among
 * itself and its first three ancestors, and the kernel's credentials where there are any. Source: DESIGN section 4.
 */
export function proveWorker(input: ProofInput, table: ProcessTable): ProofVerdict {
  const { hello, peer, launched, ownPid, ownUid } = input;
  const pid = hello.process?.pid ?? 0;
  if (pid === ownPid) return refuse("WORKER_SELF");
  if (pid <= 1) return refuse("WORKER_PID_MISMATCH");
  const facts = table.read(pid);
  if (!isAlive(facts)) return refuse("WORKER_NOT_LIVE");
  if (facts.birthTicks !== hello.process?.birth) return refuse("WORKER_BIRTH_MISMATCH");
  if (peer !== undefined && peer.pid !== pid) return refuse("WORKER_PID_MISMATCH");
  if (ownUid !== undefined && facts.uid !== ownUid) return refuse("WORKER_NOT_LAUNCHED");
  const line = [facts, ...ancestorsOf(pid, LIMITS.ancestorDepth, table)];
  const launcherHops = line.findIndex((one) => one.pid === launched.pid && one.birthTicks === launched.birthTicks);
  if (launcherHops < 0) return refuse("WORKER_NOT_LAUNCHED");
  const { min = 0, max = 0 } = hello.protocol ?? {};
  if (min > PROTOCOL.max || max < PROTOCOL.min || min > max) return refuse("WORKER_PROTOCOL_UNSUPPORTED");
  const factors: ProofFactor[] = ["token", "process_table", "ancestry"];
  if (peer !== undefined) factors.splice(1, 0, "peer_credentials");
  return { kind: "proved", process: { pid, birthTicks: facts.birthTicks }, factors, launcherHops };
}

function refuse(reason: Reason): ProofVerdict {
  return { kind: "refused", reason };
}
