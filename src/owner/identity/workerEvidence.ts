import type { ProcessIdentity } from "../../base/processIdentity.js";

/** One thing that made the owner believe a worker; mirrors the contract's ProofFactor. */
export type ProofFactor = "token" | "peer_credentials" | "process_table" | "ancestry";

/** Why the owner believes a worker is the one it launched. Kept with the execution. */
export interface WorkerEvidence {
  /** The proved process. */
  readonly process: ProcessIdentity;
  /** The launched process; another one where a launcher stands between. */
  readonly launched: ProcessIdentity;
  readonly bootId: string;
  readonly factors: readonly ProofFactor[];
  /** Steps from the launched process down to the worker, 0 to 3. */
  readonly launcherHops: number;
  /** User id by the kernel; undefined where it does not say. */
  readonly uid: number | undefined;
  /** The worker's program, as it says. */
  readonly build: { readonly name: string; readonly version: string; readonly runtime: string };
  /** Contract revisions that it speaks. */
  readonly protocol: { readonly min: number; readonly max: number };
  /** Epoch milliseconds. */
  readonly provedAt: number;
}

/** The JSON text of evidence, for its row: births as decimal texts. */
export function evidenceText(evidence: WorkerEvidence): string {
  return JSON.stringify(evidence, (_key, value: unknown) => (typeof value === "bigint" ? value.toString() : value));
}
