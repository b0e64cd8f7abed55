import { defineCommand } from "../command.js";
import { claimDelivery } from "../deliveries/claimDelivery.js";
import type { StoredRetry } from "../deliveries/storedDelivery.js";
import type { Tx } from "../sql.js";
import { appendMessages } from "./appendMessages.js";
import type { DeliveryEffects } from "../deliveries/deliveryEffects.js";
import { noEffects } from "../deliveries/deliveryEffects.js";
import type { InputRow } from "./inputRow.js";
import { authorFromColumns } from "./storedAuthor.js";
import { touchSession } from "./touchSession.js";

/** Asks for a session's next input. */
export interface ClaimRequest {
  readonly sessionId: string;
  /** A fresh id for the execution. */
  readonly executionId: string;
  readonly epoch: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** An input that has left the queue for an execution. */
export interface ClaimedInput {
  readonly input: InputRow;
  readonly agent: string;
  readonly title: string;
  readonly botChat: boolean;
  /** Encoded talaria.types.v1.Policy. */
  readonly policy: Uint8Array;
  readonly generation: number;
  /** Depth in a tree of child turns; 0 for a turn that is no child. */
  readonly childDepth: number;
  /** Set where a message's turn failed and this is its one retry. */
  readonly retry: StoredRetry | undefined;
}

/** What became of a claim. The effects hold also where nothing was claimed: an expired message ends on the way. */
export type ClaimResult = { readonly effects: DeliveryEffects } & (
  | { readonly kind: "claimed"; readonly claimed: ClaimedInput }
  | { readonly kind: "idle" | "running" | "paused" | "gone" }
  /** The next input is the retry of a turn that met a limit; it may start from `until` on, epoch milliseconds. */
  | { readonly kind: "waits"; readonly until: number }
);

interface SessionRow {
  readonly agent: string;
  readonly title: string;
  readonly bot_chat: number;
  readonly policy: Uint8Array;
  readonly generation: number;
  readonly child_depth: number;
  readonly running_execution_id: string | null;
  readonly paused_execution_id: string | null;
}

/** Starts a session's next input: at most one runs, in the order they were queued, and none while it is paused. */
export const claimInput = defineCommand<ClaimRequest, ClaimResult>({
  name: "turn.claim",
  run(tx, request) {
    const session = tx.get<SessionRow>("SELECT * FROM sessions WHERE session_id = ?", request.sessionId);
    if (session === undefined) return { kind: "gone", effects: noEffects() };
    if (session.running_execution_id !== null) return { kind: "running", effects: noEffects() };
    if (session.paused_execution_id !== null) return { kind: "paused", effects: noEffects() };
    const effects = noEffects();
    for (;;) {
      const input = tx.get<InputRow>(
        "SELECT * FROM inputs WHERE session_id = ? AND state = 'queued' ORDER BY sequence LIMIT 1",
        request.sessionId,
      );
      if (input === undefined) return { kind: "idle", effects };
      let retry: StoredRetry | undefined;
      if (input.delivery_id !== null) {
        const verdict = claimDelivery(tx, {
          deliveryId: input.delivery_id,
          executionId: request.executionId,
          now: request.now,
          effects,
        });
        if (verdict.kind === "waits") return { kind: "waits", until: verdict.until, effects };
        if (verdict.kind !== "claimed") {
          dropInput(tx, input, request.now);
          continue;
        }
        retry = verdict.retry;
      }
      return { kind: "claimed", claimed: start(tx, session, input, request, retry), effects };
    }
  },
});

/** Ends an input whose message must not start any more. */
function dropInput(tx: Tx, input: InputRow, now: number): void {
  tx.run(
    "UPDATE inputs SET state = 'ended', outcome = 'cancelled', ended_at = ? WHERE input_id = ?",
    now,
    input.input_id,
  );
  tx.run("UPDATE turn_totals SET ended = ended + 1, ended_unstarted = ended_unstarted + 1");
  touchSession(tx, input.session_id, now);
}

function start(
  tx: Tx,
  session: SessionRow,
  input: InputRow,
  request: ClaimRequest,
  retry: StoredRetry | undefined,
): ClaimedInput {
  const { sessionId, executionId, epoch, now } = request;
  const generation = session.generation + 1;
  tx.run(
    `INSERT INTO executions (execution_id, session_id, input_id, epoch, generation, state, created_at)
     VALUES (?, ?, ?, ?, ?, 'claimed', ?)`,
    executionId,
    sessionId,
    input.input_id,
    epoch,
    generation,
    now,
  );
  tx.run(
    "UPDATE inputs SET state = 'started', execution_id = ?, started_at = ? WHERE input_id = ?",
    executionId,
    now,
    input.input_id,
  );
  tx.run(
    "UPDATE sessions SET generation = ?, running_execution_id = ? WHERE session_id = ?",
    generation,
    executionId,
    sessionId,
  );
  tx.run("UPDATE turn_totals SET started = started + 1");
  if (retry === undefined || !standsInContext(tx, sessionId, retry.failedExecutionId)) {
    appendMessages(
      tx,
      sessionId,
      [{ role: "user", text: input.text, author: authorFromColumns(input), executionId }],
      now,
    );
  }
  touchSession(tx, sessionId, now);
  return {
    input: { ...input, state: "started", execution_id: executionId, started_at: now },
    agent: session.agent,
    title: session.title,
    botChat: session.bot_chat === 1,
    policy: session.policy,
    generation,
    childDepth: session.child_depth,
    retry,
  };
}

/** Whether the text of an execution's input is among the rows that turns read: a reset may have come since. */
function standsInContext(tx: Tx, sessionId: string, executionId: string): boolean {
  const row = tx.get<{ found: number }>(
    `SELECT 1 AS found FROM messages JOIN sessions USING (session_id)
     WHERE session_id = ? AND execution_id = ? AND role = 'user' AND row >= context_from_row LIMIT 1`,
    sessionId,
    executionId,
  );
  return row !== undefined;
}
