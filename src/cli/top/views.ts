import type { Timestamp } from "../../gen/google/protobuf/timestamp.js";
import { deliveryStateToJSON } from "../../gen/talaria/dm/v1/delivery.js";
import { breakerStateToJSON } from "../../gen/talaria/gateway/v1/admin_service.js";
import { sessionStateToJSON } from "../../gen/talaria/gateway/v1/session.js";
import { turnPhaseToJSON } from "../../gen/talaria/gateway/v1/turn_service.js";
import { fromDuration, fromTimestamp } from "../../rpc/wire/times.js";
import { failureText } from "../render/failureText.js";
import { shortName } from "../render/names.js";
import { questionOf } from "../render/promptText.js";
import { span } from "../render/span.js";
import type { Snapshot } from "./snapshot.js";

/** The tables of the screen, in the order of their number keys. */
export const VIEWS = ["workers", "sessions", "prompts", "deliveries", "destinations"] as const;

/** One of {@link VIEWS}. */
export type View = (typeof VIEWS)[number];

/** A line of a table. */
export interface Row {
  /** Names what the line is about, also while others come and go. */
  readonly id: string;
  /** Cells, one for each column of the view. */
  readonly cells: readonly string[];
  /** Whether it wants attention. */
  readonly alarm: boolean;
}

/** Heads of a view's columns; where the screen is narrow, the last go first. */
export const COLUMNS: Readonly<Record<View, readonly string[]>> = {
  workers: ["AGENT", "PHASE", "AGE", "MEMORY", "CPU", "EXECUTION"],
  sessions: ["AGENT", "STATE", "QUEUED", "TITLE", "CHANGED", "SESSION"],
  prompts: ["ASKS", "EXPIRES", "PROMPT"],
  deliveries: ["STATE", "TO", "FROM", "AGE", "TRIES", "WHY", "DELIVERY"],
  destinations: ["DESTINATION", "BREAKER", "WAITING", "THERE", "HELD", "LAST ERROR"],
};

/** The rows of a view; processor time is the share since `before`, where that is known. */
export function rowsOf(view: View, now: Snapshot, before: Snapshot | undefined): readonly Row[] {
  const age = (moment: Timestamp | undefined): string => {
    const at = fromTimestamp(moment);
    return at === undefined ? "" : span(now.at - at);
  };
  const left = (moment: Timestamp | undefined): string => {
    const at = fromTimestamp(moment);
    return at === undefined ? "" : span(at - now.at);
  };
  switch (view) {
    case "workers":
      return now.workers.map((worker) => ({
        id: worker.launchId,
        cells: [
          worker.agent === "" ? "(pool)" : worker.agent,
          shortName(turnPhaseToJSON(worker.phase), "TURN_PHASE_"),
          age(worker.launchedAt),
          `${String(worker.residentBytes / 1_048_576n)} MiB`,
          processorShare(worker, now, before),
          worker.executionId,
        ],
        alarm: false,
      }));
    case "sessions":
      return now.sessions.map((session) => ({
        id: session.sessionId,
        cells: [
          session.agent,
          shortName(sessionStateToJSON(session.state), "SESSION_STATE_"),
          String(session.queuedInputs),
          session.title,
          age(session.updatedAt),
          session.sessionId,
        ],
        alarm: session.pausedBehindExecutionId !== "",
      }));
    case "prompts":
      return now.prompts.map((prompt) => ({
        id: prompt.promptId,
        cells: [questionOf(prompt), left(prompt.expiresAt), prompt.promptId],
        alarm: true,
      }));
    case "deliveries":
      return now.deliveries.map((delivery) => ({
        id: delivery.deliveryId,
        cells: [
          shortName(deliveryStateToJSON(delivery.state), "DELIVERY_STATE_"),
          delivery.target,
          delivery.sender?.id ?? "",
          age(delivery.createdAt),
          String(delivery.attempts),
          failureText(delivery.failure ?? delivery.lastError),
          delivery.deliveryId,
        ],
        alarm: delivery.endedAt !== undefined,
      }));
    case "destinations":
      return now.destinations.map((destination) => ({
        id: destination.name,
        cells: [
          destination.name,
          shortName(breakerStateToJSON(destination.breaker), "BREAKER_STATE_"),
          String(destination.waiting),
          String(destination.claimed),
          destination.heldBy === "" ? "" : `by ${destination.heldBy}: ${destination.holdReason}`,
          failureText(destination.lastError),
        ],
        alarm: destination.failures > 0 || destination.heldBy !== "",
      }));
  }
}

function processorShare(worker: Snapshot["workers"][number], now: Snapshot, before: Snapshot | undefined): string {
  const earlier = before?.workers.find(({ launchId }) => launchId === worker.launchId);
  if (earlier === undefined || before === undefined || now.at <= before.at) return "";
  const used = (fromDuration(worker.processorTime) ?? 0) - (fromDuration(earlier.processorTime) ?? 0);
  return `${String(Math.max(0, Math.round((used * 100) / (now.at - before.at))))}%`;
}
