import { defineCommand } from "../command.js";

/** The worker that was proved to belong to a launch; behind a launcher it is another process. */
export interface ProofRecord {
  readonly launchId: string;
  readonly workerPid: number;
  /** Birth ticks, as decimal text. */
  readonly workerBirth: string;
}

/** Notes the proved worker of a launch, as a second process through which its group can be proved. */
export const recordProof = defineCommand<ProofRecord, null>({
  name: "launch.prove",
  run(tx, proof) {
    tx.run(
      "UPDATE launches SET worker_pid = ?, worker_birth = ? WHERE launch_id = ?",
      proof.workerPid,
      proof.workerBirth,
      proof.launchId,
    );
    return null;
  },
});
