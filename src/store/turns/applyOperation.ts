import type { Tx } from "../sql.js";
import { addUsageToDay } from "../usage/addUsageToDay.js";
import { MOST_COUNTED } from "../usage/mostCounted.js";
import { appendMessages } from "./appendMessages.js";
import type { OperationRefusal, StoreOperationPlan } from "./storeOperation.js";

/** Where an operation applies. */
export interface OperationPlace {
  readonly executionId: string;
  readonly sessionId: string;
  readonly sequence: number;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Most bytes of an answer in chunks. */
  readonly maxAnswerBytes: number;
}

/** Applies one operation; returns the first row written (0 for none), or why it was refused. */
export function applyOperation(
  tx: Tx,
  place: OperationPlace,
  operation: StoreOperationPlan,
): { readonly firstRow: number } | { readonly refused: OperationRefusal } {
  switch (operation.kind) {
    case "append":
      return { firstRow: appendMessages(tx, place.sessionId, operation.messages, place.now) };
    case "compact":
      return compact(tx, place, operation);
    case "title":
      return setTitle(tx, place, operation.title);
    case "usage":
      return addUsage(tx, place, operation);
    case "child":
      tx.run(
        `INSERT INTO children (execution_id, child_id, state, task, answer, updated_at) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (execution_id, child_id) DO UPDATE SET state = excluded.state, answer = excluded.answer,
           updated_at = excluded.updated_at
         WHERE children.session_id IS NULL`,
        place.executionId,
        operation.childId,
        operation.state,
        operation.task,
        operation.answer,
        place.now,
      );
      return { firstRow: 0 };
    case "background":
      return noteBackground(tx, place, operation);
    case "answer_chunk":
      return addChunk(tx, place, operation.text);
  }
}

type Of<K extends StoreOperationPlan["kind"]> = Extract<StoreOperationPlan, { kind: K }>;
type Applied = { readonly firstRow: number } | { readonly refused: OperationRefusal };

function compact(tx: Tx, place: OperationPlace, operation: Of<"compact">): Applied {
  const session = tx.get<{ revision: number; rows: number }>(
    "SELECT revision, rows FROM sessions WHERE session_id = ?",
    place.sessionId,
  );
  if (session?.revision !== operation.expectedRevision) return { refused: "stale_revision" };
  if (operation.lastRow > session.rows) return { refused: "no_such_rows" };
  tx.run(
    "UPDATE messages SET compacted = 1 WHERE session_id = ? AND row BETWEEN ? AND ?",
    place.sessionId,
    operation.firstRow,
    operation.lastRow,
  );
  return { firstRow: appendMessages(tx, place.sessionId, [operation.summary], place.now) };
}

function setTitle(tx: Tx, place: OperationPlace, title: string): Applied {
  const changed = tx.run("UPDATE sessions SET title = ? WHERE session_id = ? AND bot_chat = 0", title, place.sessionId);
  return changed.changes === 0 ? { refused: "bot_chat_title" } : { firstRow: 0 };
}

function addUsage(tx: Tx, place: OperationPlace, usage: Of<"usage">): Applied {
  tx.run(
    `INSERT INTO auxiliary_usage (session_id, purpose, provider, model, input_tokens, output_tokens, api_calls, cost_usd)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (session_id, purpose, provider, model) DO UPDATE SET
       input_tokens = MIN(${MOST_COUNTED}, input_tokens + excluded.input_tokens),
       output_tokens = MIN(${MOST_COUNTED}, output_tokens + excluded.output_tokens),
       api_calls = MIN(${MOST_COUNTED}, api_calls + excluded.api_calls), cost_usd = cost_usd + excluded.cost_usd`,
    place.sessionId,
    usage.purpose,
    usage.provider,
    usage.model,
    usage.inputTokens,
    usage.outputTokens,
    usage.apiCalls,
    usage.costUsd,
  );
  addUsageToDay(tx, place.sessionId, usage, place.now);
  return { firstRow: 0 };
}

function noteBackground(tx: Tx, place: OperationPlace, background: Of<"background">): Applied {
  tx.run(
    `INSERT INTO background_processes
       (session_id, process_id, pid, birth, process_group, command, state, exit_code, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (session_id, process_id) DO UPDATE SET state = excluded.state, exit_code = excluded.exit_code,
       updated_at = excluded.updated_at`,
    place.sessionId,
    background.processId,
    background.pid,
    background.birth,
    background.processGroup,
    background.command,
    background.state,
    background.exitCode,
    place.now,
  );
  return { firstRow: 0 };
}

function addChunk(tx: Tx, place: OperationPlace, text: string): Applied {
  const size = tx.get<{ bytes: number | null }>(
    "SELECT SUM(LENGTH(CAST(text AS BLOB))) AS bytes FROM answer_chunks WHERE execution_id = ?",
    place.executionId,
  );
  if ((size?.bytes ?? 0) + Buffer.byteLength(text) > place.maxAnswerBytes) return { refused: "answer_too_long" };
  tx.run(
    "INSERT INTO answer_chunks (execution_id, sequence, text) VALUES (?, ?, ?)",
    place.executionId,
    place.sequence,
    text,
  );
  return { firstRow: 0 };
}
