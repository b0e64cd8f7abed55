import type { ProcessIdentity } from "../../base/processIdentity.js";
import { groupMembers, type ProcessTable } from "../../base/processTable.js";
import { ProofFactor, type Worker, type WorkerEvidence } from "../../gen/talaria/gateway/v1/admin_service.js";
import { TurnPhase } from "../../gen/talaria/gateway/v1/turn_service.js";
import type { WorkerEvidence as OwnEvidence } from "../../owner/identity/workerEvidence.js";
import type { Launch } from "../../owner/launch/launch.js";
import { phaseOnWire } from "../../owner/phase/phaseOnWire.js";
import type { TurnRun } from "../../owner/turn/turnRun.js";
import { toDuration, toTimestamp } from "../../rpc/wire/times.js";
import { processorMsOf } from "../../base/processorTime.js";
import { residentBytesOf } from "../../base/residentBytes.js";

const FACTORS: Readonly<Record<OwnEvidence["factors"][number], ProofFactor>> = {
  token: ProofFactor.PROOF_FACTOR_TOKEN,
  peer_credentials: ProofFactor.PROOF_FACTOR_PEER_CREDENTIALS,
  process_table: ProofFactor.PROOF_FACTOR_PROCESS_TABLE,
  ancestry: ProofFactor.PROOF_FACTOR_ANCESTRY,
};

/** A worker process as operators see it; `turn` is the one it works on, undefined while it is pooled. */
export function toWorker(launch: Launch, turn: TurnRun | undefined, table: ProcessTable): Worker {
  const evidence = turn?.link?.evidence;
  const processes = groupMembers(launch.group.id, table);
  return {
    launchId: launch.id,
    phase: turn === undefined ? TurnPhase.TURN_PHASE_SPAWNED : phaseOnWire(turn.phase),
    executionId: turn?.fence.executionId ?? "",
    sessionId: turn?.claimed.input.session_id ?? "",
    agent: turn?.claimed.agent ?? "",
    evidence: evidence === undefined ? undefined : toEvidence(evidence),
    residentBytes: BigInt(residentBytesOf(processes)),
    processorTime: toDuration(processorMsOf(processes)),
    launchedAt: toTimestamp(launch.launchedAt),
  };
}

function toEvidence(evidence: OwnEvidence): WorkerEvidence {
  const identity = ({ pid, birthTicks }: ProcessIdentity) => ({ pid, birth: birthTicks, bootId: evidence.bootId });
  return {
    process: identity(evidence.process),
    launched: identity(evidence.launched),
    factors: evidence.factors.map((factor) => FACTORS[factor]),
    launcherHops: evidence.launcherHops,
    ...(evidence.uid === undefined ? {} : { uid: evidence.uid }),
    build: evidence.build,
    protocol: evidence.protocol,
    provedAt: toTimestamp(evidence.provedAt),
  };
}
