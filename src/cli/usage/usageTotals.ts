import type { Turn } from "../../gen/talaria/gateway/v1/turn_service.js";
import { TurnOutcome } from "../../gen/talaria/types/v1/result.js";
import { localTime } from "../render/names.js";

/** What one agent has used on one day. */
export interface UsageRow {
  /** In this machine's zone, `YYYY-MM-DD`; the day on which the turns ended. */
  readonly day: string;
  readonly agent: string;
  readonly turns: number;
  /** Those that ended otherwise than completed. */
  readonly notCompleted: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly apiCalls: number;
  /** US dollars, where the cost of any turn is known; undefined where of none. */
  readonly costUsd: number | undefined;
}

/** Adds up turns by agent and day. */
export class UsageTotals {
  readonly #rows = new Map<string, UsageRow>();

  /** Adds a turn; one that has not ended, or ended before `sinceMs` (milliseconds since the Unix epoch), counts nothing. */
  add(agent: string, { endedAt, outcome, usage }: Turn, sinceMs: number): void {
    if (endedAt === undefined || Number(endedAt.seconds) * 1_000 < sinceMs) return;
    const day = localTime(endedAt).slice(0, 10);
    const key = `${day} ${agent}`;
    const before = this.#rows.get(key);
    const cost = usage?.estimatedCostUsd;
    this.#rows.set(key, {
      day,
      agent,
      turns: (before?.turns ?? 0) + 1,
      notCompleted: (before?.notCompleted ?? 0) + (outcome === TurnOutcome.TURN_OUTCOME_COMPLETED ? 0 : 1),
      inputTokens: (before?.inputTokens ?? 0) + Number(usage?.inputTokens ?? 0n),
      outputTokens: (before?.outputTokens ?? 0) + Number(usage?.outputTokens ?? 0n),
      apiCalls: (before?.apiCalls ?? 0) + (usage?.apiCalls ?? 0),
      costUsd: cost === undefined ? before?.costUsd : (before?.costUsd ?? 0) + cost,
    });
  }

  /** The rows, the last day first, agents by name. */
  rows(): readonly UsageRow[] {
    return [...this.#rows.values()].sort((a, b) => b.day.localeCompare(a.day) || a.agent.localeCompare(b.agent));
  }
}
