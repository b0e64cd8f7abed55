import { z } from "zod";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Every duration and count that a home may configure. Durations are milliseconds. */
export interface Budgets {
  /** From launch to the worker's `hello`. */
  readonly helloMs: number;
  /** How long a worker waits for `finish` after its `result`. */
  readonly finishWaitMs: number;
  /** From `finished` to exit code 0. */
  readonly exitAfterFinishedMs: number;
  /** From the first Stop (whose frame goes at once) to SIGTERM for the group. */
  readonly stopTermAfterMs: number;
  /** From the first Stop to SIGKILL for the group. */
  readonly stopKillAfterMs: number;
  /** From the first Stop to the recorded outcome, whatever the worker does. */
  readonly stopTotalMs: number;
  /** How long a worker may go on after its owner is gone. */
  readonly orphanGraceMs: number;
  /** How long a worker may work after its turn's answer (memory, title). */
  readonly turnFinalWorkMs: number;
  /** How long running turns may go on after SIGTERM to the gateway. */
  readonly drainMs: number;
  /** One store call of a worker. */
  readonly storeCallMs: number;
  /** Deadline of a unary call that brings none. */
  readonly unaryDeadlineMs: number;
  /** How long an approval waits before it counts as denied. */
  readonly approvalMs: number;
  /** How long a clarify waits before it is skipped; 0 = no bound. */
  readonly clarifyMs: number;
  /** Open prompts of one execution, both kinds together. */
  readonly openPromptsPerExecution: number;
  /** Longest turn; 0 = no bound. */
  readonly turnLimitMs: number;
  /** Longest turn that a direct message started. */
  readonly dmTurnLimitMs: number;
  /** Interval of a worker's heartbeats. */
  readonly heartbeatIntervalMs: number;
  /** Silence after which a worker is lost. */
  readonly heartbeatMissedMs: number;
  /** Longest time without a progress event; 0 = no bound. */
  readonly noProgressMs: number;
  /** The same in a turn that a direct message started, outside an open tool call; 0 = no bound. */
  readonly dmNoProgressMs: number;
  /** How long a pooled worker may wait for an assignment before it is retired. */
  readonly pooledWorkerIdleMs: number;
  /** A connector's lease on a message, unless renewed. */
  readonly relayLeaseMs: number;
  /** Longest wait of a message for a connector. */
  readonly relayTtlMs: number;
  /** First wait before an undecided peer delivery is tried again (full jitter). */
  readonly peerRetryMinMs: number;
  /** Longest wait between two tries of a peer delivery. */
  readonly peerRetryMaxMs: number;
  /** Longest life of a message from its acceptance. */
  readonly messageLifetimeMs: number;
  /** How long a key is remembered after its delivery ended. */
  readonly dedupeHorizonMs: number;
  /** How long the body of a dead letter is kept for a redrive; 0 = redrive off. */
  readonly deadLetterBodyMs: number;
  /** How long a reply is kept. */
  readonly replyRetentionMs: number;
  /** How long records of the gateway's own are kept: launches, starts, ended prompts, what store operations were known by. */
  readonly recordRetentionMs: number;
  /** How long an agent's usage of a day is kept. */
  readonly usageRetentionMs: number;
  /** How long an ordinary session may be idle before it is deleted with its transcript; 0 = never. */
  readonly sessionRetentionMs: number;
  /** Life of a pairing invite. */
  readonly inviteMs: number;
  /** Messages between one pair, sent in turns that the other's messages started, that trip the loop guard. */
  readonly loopGuardMessages: number;
  /** Window in which `loopGuardMessages` counts. */
  readonly loopGuardWindowMs: number;
  /** How long a tripped loop guard refuses. */
  readonly loopGuardCooldownMs: number;
  /** Events kept per session for watches. */
  readonly eventsKeptPerSession: number;
}

/** What a home gets that configures nothing. */
export const DEFAULT_BUDGETS: Budgets = Object.freeze({
  helloMs: 60 * SECOND,
  finishWaitMs: 30 * SECOND,
  exitAfterFinishedMs: 10 * SECOND,
  stopTermAfterMs: 20 * SECOND,
  stopKillAfterMs: 25 * SECOND,
  stopTotalMs: 30 * SECOND,
  orphanGraceMs: 10 * SECOND,
  turnFinalWorkMs: 10 * SECOND,
  drainMs: 30 * SECOND,
  storeCallMs: 20 * SECOND,
  unaryDeadlineMs: 30 * SECOND,
  approvalMs: 300 * SECOND,
  clarifyMs: 3_600 * SECOND,
  openPromptsPerExecution: 16,
  turnLimitMs: 0,
  dmTurnLimitMs: 600 * SECOND,
  heartbeatIntervalMs: 10 * SECOND,
  heartbeatMissedMs: 60 * SECOND,
  noProgressMs: 0,
  dmNoProgressMs: 300 * SECOND,
  pooledWorkerIdleMs: 10 * MINUTE,
  relayLeaseMs: 60 * SECOND,
  relayTtlMs: 900 * SECOND,
  peerRetryMinMs: 1 * SECOND,
  peerRetryMaxMs: 5 * MINUTE,
  messageLifetimeMs: 24 * HOUR,
  dedupeHorizonMs: 48 * HOUR,
  deadLetterBodyMs: 24 * HOUR,
  replyRetentionMs: 30 * DAY,
  recordRetentionMs: 30 * DAY,
  usageRetentionMs: 400 * DAY,
  sessionRetentionMs: 0,
  inviteMs: 10 * MINUTE,
  loopGuardMessages: 20,
  loopGuardWindowMs: 60 * SECOND,
  loopGuardCooldownMs: 60 * SECOND,
  eventsKeptPerSession: 10_000,
});

const NAMES = Object.keys(DEFAULT_BUDGETS) as (keyof Budgets)[];
const ZERO_MEANS_OFF: ReadonlySet<keyof Budgets> = new Set([
  "clarifyMs",
  "turnLimitMs",
  "noProgressMs",
  "dmNoProgressMs",
  "deadLetterBodyMs",
  "sessionRetentionMs",
]);

/** Overrides as a file holds them: the names of {@link Budgets} in snake case, whole numbers, unknown keys refused. */
export const budgetOverridesSchema = z
  .strictObject(
    Object.fromEntries(
      NAMES.map((name) => [
        toSnakeCase(name),
        z
          .int()
          .min(ZERO_MEANS_OFF.has(name) ? 0 : 1)
          .optional(),
      ]),
    ),
  )
  .transform((file): Partial<Budgets> => {
    const set = NAMES.flatMap((name) => {
      const value = file[toSnakeCase(name)];
      return value === undefined ? [] : [[name, value] as const];
    });
    return Object.fromEntries(set);
  });

/** Defaults with overrides, frozen. The result may break a rule of {@link checkBudgets}: call it too. */
export function resolveBudgets(overrides: Partial<Budgets> = {}): Budgets {
  return Object.freeze({ ...DEFAULT_BUDGETS, ...overrides });
}

/** A budget's name as it is written in a file. */
export function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
