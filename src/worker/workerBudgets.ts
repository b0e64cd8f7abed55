import type { Duration } from "../gen/google/protobuf/duration.js";
import type { WorkerBudgets as WireBudgets } from "../gen/talaria/owner/v1/owner_service.js";
import { LIMITS } from "../base/limits.js";

/** The bounds that a worker keeps, resolved. Durations are milliseconds. */
export interface ResolvedBudgets {
  /** Wait for `finish` after `result`. */
  readonly finishWaitMs: number;
  /** Life without an owner. */
  readonly orphanGraceMs: number;
  /** Work after the answer. */
  readonly turnFinalMs: number;
  /** Wait of an approval. */
  readonly approvalMs: number;
  /** Wait of a question; 0 = no bound. */
  readonly clarifyMs: number;
  /** One store call with its repetitions. */
  readonly storeCallMs: number;
  /** Interval of heartbeats. */
  readonly heartbeatMs: number;
  /** Most bytes of unacknowledged frames. */
  readonly outstandingBytes: number;
  /** Most prompts open at once, both kinds together. */
  readonly openPrompts: number;
}

/** What the contract says where the owner says nothing; a test holds them to the budget table. */
export const DEFAULT_WORKER_BUDGETS: ResolvedBudgets = Object.freeze({
  finishWaitMs: 30_000,
  orphanGraceMs: 10_000,
  turnFinalMs: 10_000,
  approvalMs: 300_000,
  clarifyMs: 3_600_000,
  storeCallMs: 20_000,
  heartbeatMs: 10_000,
  outstandingBytes: LIMITS.outstandingBytes,
  openPrompts: LIMITS.openPrompts,
});

/** Time for the connection to the owner and `hello`, milliseconds; known before any bootstrap. */
export const HELLO_BUDGET_MS = 60_000;

/** The owner's bounds, with the defaults for what it left out; zero counts as left out, but for clarify. */
export function resolveWorkerBudgets(wire: WireBudgets | undefined): ResolvedBudgets {
  const defaults = DEFAULT_WORKER_BUDGETS;
  const outstanding = Number(wire?.outstandingBytes ?? 0n);
  return {
    finishWaitMs: toMs(wire?.finishWait) || defaults.finishWaitMs,
    orphanGraceMs: toMs(wire?.orphanGrace) || defaults.orphanGraceMs,
    turnFinalMs: toMs(wire?.turnFinal) || defaults.turnFinalMs,
    approvalMs: toMs(wire?.approval) || defaults.approvalMs,
    clarifyMs: wire?.clarify === undefined ? defaults.clarifyMs : toMs(wire.clarify),
    storeCallMs: toMs(wire?.storeCall) || defaults.storeCallMs,
    heartbeatMs: toMs(wire?.heartbeat) || defaults.heartbeatMs,
    outstandingBytes: outstanding || defaults.outstandingBytes,
    openPrompts: wire?.openPrompts || defaults.openPrompts,
  };
}

function toMs(duration: Duration | undefined): number {
  if (duration === undefined) return 0;
  return Math.max(0, Number(duration.seconds) * 1_000 + Math.round(duration.nanos / 1_000_000));
}
