import type { SessionSnapshot, SessionUpdate } from "../../gen/talaria/gateway/v1/turn_service.js";
import type { Cursor } from "../../gen/talaria/types/v1/cursor.js";
import { fitting } from "../../base/fitting.js";
import { LIMITS } from "../../base/limits.js";
import { reasonError } from "../../rpc/rpcError.js";
import { toTimestamp } from "../../rpc/wire/times.js";
import { findSession } from "../../store/queries/sessions.js";
import { newestRows, transcriptBytes } from "../../store/queries/transcript.js";
import { queuedTurns, runningTurn, type TurnRows } from "../../store/queries/turns.js";
import type { Queryable } from "../../store/sql.js";
import { openPromptRows } from "../../store/turns/promptRow.js";
import { toPrompt } from "../prompts/promptRecord.js";
import { toMessage } from "../records/toMessage.js";
import { toSession } from "../records/toSession.js";
import { toTurn } from "../records/turnRecord.js";
import type { TurnParts } from "../turn/turnParts.js";
import { Watcher } from "./watcher.js";

/** Most queued inputs that a snapshot shows. */
const SNAPSHOT_QUEUED = 100;

/** What a viewer asks for. */
export interface WatchRequest {
  readonly sessionId: string;
  readonly cursor: Cursor | undefined;
  /** Whether the viewer may answer prompts. */
  readonly answersPrompts: boolean;
  /** Newest transcript rows in a snapshot. */
  readonly rows: number;
}

/** What a snapshot takes from memory. */
export interface Running {
  /** Text of a session's running turn so far. */
  readonly runningText: (sessionId: string) => string;
}

/**
 * Follows a session: a snapshot or what was missed, then every change. A viewer that falls behind gets a gap and a snapshot.
 * @throws RpcError UNKNOWN_SESSION; what the signal was aborted with.
 */
export async function* watchSession(
  parts: TurnParts & Running,
  request: WatchRequest,
  signal: AbortSignal,
): AsyncGenerator<SessionUpdate> {
  const { hub, store } = parts;
  const { sessionId, cursor } = request;
  if (findSession(store.reader, sessionId) === undefined) throw reasonError("UNKNOWN_SESSION");
  const watcher = new Watcher(request.answersPrompts);
  const start = hub.open(sessionId, watcher, cursor);
  try {
    if (start.kind === "resume") {
      for (const update of start.missed) yield update;
    } else {
      if (start.gap) yield gapUpdate(parts, request, cursor, start.oldest);
      yield snapshotUpdate(parts, request);
    }
    for (let step = await watcher.next(signal); step !== undefined; step = await watcher.next(signal)) {
      if (step.kind === "update") {
        yield step.update;
        continue;
      }
      yield gapUpdate(parts, request, undefined, undefined);
      yield snapshotUpdate(parts, request);
    }
  } finally {
    hub.close(sessionId, watcher);
  }
}

function snapshotUpdate(parts: TurnParts & Running, { sessionId, rows }: WatchRequest): SessionUpdate {
  return {
    cursor: parts.hub.cursorOf(sessionId),
    at: toTimestamp(parts.clock.now()),
    update: { $case: "snapshot", value: snapshotOf(parts, parts.store.reader, sessionId, rows) },
  };
}

function gapUpdate(
  parts: TurnParts,
  { sessionId }: WatchRequest,
  requested: Cursor | undefined,
  oldest: bigint | undefined,
): SessionUpdate {
  const now = parts.hub.cursorOf(sessionId);
  return {
    cursor: now,
    at: toTimestamp(parts.clock.now()),
    update: {
      $case: "gap",
      value: {
        requested,
        oldestKept: oldest === undefined ? undefined : { epoch: now.epoch, sequence: oldest },
      },
    },
  };
}

function snapshotOf(running: Running, reader: Queryable, sessionId: string, rows: number): SessionSnapshot {
  const session = findSession(reader, sessionId);
  const turn = runningTurn(reader, sessionId);
  const runningText = running.runningText(sessionId);
  const prompts = openPromptRows(reader, sessionId);
  const promptBytes = prompts.reduce((sum, { request }) => sum + request.length, 0);
  const shown = turnBytes(turn) + Buffer.byteLength(runningText) + promptBytes;
  // What waits comes before what was: a viewer can read the transcript by pages.
  const queued = fitting(queuedTurns(reader, sessionId, SNAPSHOT_QUEUED), turnBytes, LIMITS.snapshotBytes - shown);
  const queuedBytes = queued.reduce((sum, one) => sum + turnBytes(one), 0);
  const newest = newestRows(reader, sessionId, rows).toReversed();
  const messages = fitting(newest, transcriptBytes, LIMITS.snapshotBytes - shown - queuedBytes).toReversed();
  return {
    session: session === undefined ? undefined : toSession(session),
    running: turn === undefined ? undefined : toTurn(turn),
    runningText,
    queued: queued.map(toTurn),
    prompts: prompts.map(toPrompt),
    messages: messages.map(toMessage),
  };
}

function turnBytes(turn: TurnRows | undefined): number {
  return Buffer.byteLength(turn?.input.text ?? "") + (turn?.execution?.result?.length ?? 0);
}
