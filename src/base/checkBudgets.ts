import type { Budgets } from "./budgets.js";
import { toSnakeCase } from "./budgets.js";

/** A relation that must hold between budgets, and why. */
export interface BudgetRule {
  /** The budget that a report points at. */
  readonly subject: keyof Budgets;
  /** Whether the rule holds. */
  readonly holds: (budgets: Budgets) => boolean;
  /** What must hold, in the words of the file. */
  readonly rule: string;
  /** What would go wrong otherwise. */
  readonly why: string;
}

/** No stop may take longer than this from the first Stop: a promise to users that no file can stretch. */
const STOP_CEILING_MS = 30_000;

/** Every relation between budgets. */
export const BUDGET_RULES: readonly BudgetRule[] = [
  less("stopTermAfterMs", "stopKillAfterMs", "SIGTERM must leave time before SIGKILL"),
  less("stopKillAfterMs", "stopTotalMs", "a killed group must be proved gone before the outcome is recorded"),
  {
    subject: "stopTotalMs",
    holds: (b) => b.stopTotalMs <= STOP_CEILING_MS,
    rule: `stop_total_ms <= ${String(STOP_CEILING_MS)}`,
    why: "a stop ends within 30 s of the first Stop",
  },
  less("turnFinalWorkMs", "stopTermAfterMs", "final work must end before the stop's SIGTERM"),
  atMost("stopTotalMs", "drainMs", "a drain must have room for one whole stop"),
  less("storeCallMs", "finishWaitMs", "the owner commits the result before it sends finish"),
  less("storeCallMs", "unaryDeadlineMs", "a store call must end before its call's deadline"),
  less("exitAfterFinishedMs", "drainMs", "a finished worker must be reaped within a drain"),
  less("orphanGraceMs", "finishWaitMs", "a worker whose owner is gone must not wait for finish"),
  {
    subject: "heartbeatIntervalMs",
    holds: (b) => b.heartbeatIntervalMs * 3 <= b.heartbeatMissedMs,
    rule: "3 * heartbeat_interval_ms <= heartbeat_missed_ms",
    why: "one late heartbeat must not lose a worker",
  },
  less("approvalMs", "dmTurnLimitMs", "an approval must be able to end inside a message's turn"),
  lessWhenOn("dmNoProgressMs", "dmTurnLimitMs", "a silent turn must be noticed before its limit"),
  lessWhenOn("noProgressMs", "turnLimitMs", "a silent turn must be noticed before its limit"),
  less("dmTurnLimitMs", "messageLifetimeMs", "a message must be able to run once within its life"),
  atMost("messageLifetimeMs", "dedupeHorizonMs", "a key must be known for as long as its sender may repeat it"),
  atMost("deadLetterBodyMs", "dedupeHorizonMs", "a redrive needs the delivery's row"),
  atMost("dedupeHorizonMs", "replyRetentionMs", "a replayed key must still find its reply"),
  atMost("clarifyMs", "recordRetentionMs", "a prompt must be known for as long as somebody may answer it"),
  atMost("turnLimitMs", "recordRetentionMs", "a turn's records must outlive it"),
  lessWhenOn("messageLifetimeMs", "sessionRetentionMs", "a session must outlive the messages that it waits for"),
  {
    subject: "relayLeaseMs",
    holds: (b) => b.relayLeaseMs * 2 <= b.relayTtlMs,
    rule: "2 * relay_lease_ms <= relay_ttl_ms",
    why: "a message must be leasable again after one lost lease",
  },
  atMost("relayTtlMs", "messageLifetimeMs", "a message must not wait for a connector beyond its life"),
  atMost("peerRetryMinMs", "peerRetryMaxMs", "backoff grows"),
  less("peerRetryMaxMs", "messageLifetimeMs", "an undecided message must be tried more than once"),
];

/** The rules that `budgets` break, each as one line for a person; empty when all hold. */
export function checkBudgets(budgets: Budgets): readonly { readonly key: string; readonly problem: string }[] {
  return BUDGET_RULES.filter((rule) => !rule.holds(budgets)).map(({ subject, rule, why }) => ({
    key: toSnakeCase(subject),
    problem: `must hold: ${rule} (${why})`,
  }));
}

function less(subject: keyof Budgets, bound: keyof Budgets, why: string): BudgetRule {
  return {
    subject,
    holds: (b) => b[subject] < b[bound],
    rule: `${toSnakeCase(subject)} < ${toSnakeCase(bound)}`,
    why,
  };
}

function atMost(subject: keyof Budgets, bound: keyof Budgets, why: string): BudgetRule {
  return {
    subject,
    holds: (b) => b[subject] <= b[bound],
    rule: `${toSnakeCase(subject)} <= ${toSnakeCase(bound)}`,
    why,
  };
}

/** As {@link less}, where 0 on either side means that there is no bound to compare. */
function lessWhenOn(subject: keyof Budgets, bound: keyof Budgets, why: string): BudgetRule {
  const strict = less(subject, bound, why);
  return { ...strict, holds: (b) => b[subject] === 0 || b[bound] === 0 || strict.holds(b) };
}
