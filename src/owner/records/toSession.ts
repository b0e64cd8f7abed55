import { OnUnknown, type Session, SessionState } from "../../gen/talaria/gateway/v1/session.js";
import { Policy } from "../../gen/talaria/types/v1/policy.js";
import { CostStatus } from "../../gen/talaria/types/v1/result.js";
import type { SessionRow, StoredSessionState } from "../../store/queries/sessions.js";
import { toTimestamp } from "../../rpc/wire/times.js";

const STATES: Readonly<Record<StoredSessionState, SessionState>> = {
  idle: SessionState.SESSION_STATE_IDLE,
  running: SessionState.SESSION_STATE_RUNNING,
  queued: SessionState.SESSION_STATE_QUEUED,
  paused: SessionState.SESSION_STATE_PAUSED,
};

/** A stored session in the contract's form; its policy only where it is given. */
export function toSession(row: SessionRow, policy?: Uint8Array): Session {
  const { usage } = row;
  return {
    sessionId: row.sessionId,
    agent: row.agent,
    title: row.title,
    botChat: row.botChat,
    state: STATES[row.state],
    generation: BigInt(row.generation),
    revision: BigInt(row.revision),
    queuedInputs: row.queuedInputs,
    runningExecutionId: row.runningExecutionId ?? "",
    pausedBehindExecutionId: row.pausedExecutionId ?? "",
    onUnknown: row.onUnknown === "pause" ? OnUnknown.ON_UNKNOWN_PAUSE : OnUnknown.ON_UNKNOWN_CONTINUE,
    rows: BigInt(row.rows),
    createdAt: toTimestamp(row.createdAt),
    updatedAt: toTimestamp(row.updatedAt),
    usage: {
      inputTokens: BigInt(usage.inputTokens),
      outputTokens: BigInt(usage.outputTokens),
      totalTokens: BigInt(usage.inputTokens + usage.outputTokens),
      cacheReadTokens: BigInt(usage.cacheReadTokens),
      cacheWriteTokens: BigInt(usage.cacheWriteTokens),
      reasoningTokens: BigInt(usage.reasoningTokens),
      apiCalls: usage.apiCalls,
      ...(usage.costUsd === 0 ? {} : { estimatedCostUsd: usage.costUsd }),
      costStatus: usage.costUsd === 0 ? CostStatus.COST_STATUS_UNSPECIFIED : CostStatus.COST_STATUS_ESTIMATED,
    },
    policy: policy === undefined ? undefined : Policy.decode(policy),
    parentExecutionId: row.parentExecutionId ?? "",
  };
}

const STORED_STATES = new Map(Object.entries(STATES).map(([stored, state]) => [state, stored as StoredSessionState]));

/** The stored name of a state; undefined for one that no session has. */
export function fromSessionState(state: SessionState): StoredSessionState | undefined {
  return STORED_STATES.get(state);
}

/** The stored name of a choice; undefined where the default of the session's kind is meant. */
export function fromOnUnknown(choice: OnUnknown): "pause" | "continue" | undefined {
  if (choice === OnUnknown.ON_UNKNOWN_PAUSE) return "pause";
  return choice === OnUnknown.ON_UNKNOWN_CONTINUE ? "continue" : undefined;
}
