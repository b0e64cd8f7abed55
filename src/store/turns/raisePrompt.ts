import { defineCommand } from "../command.js";
import type { FenceProblem, StoredFence } from "./fence.js";
import { checkFence } from "./fence.js";
import { touchSession } from "./touchSession.js";

/** A prompt that a worker raises. */
export interface PromptDraft {
  readonly promptId: string;
  readonly fence: StoredFence;
  readonly epoch: number;
  /** The worker's id for it. */
  readonly workerPromptId: string;
  /** Encoded talaria.types.v1.Prompt as viewers see it. */
  readonly request: Uint8Array;
  /** Epoch milliseconds; absent waits without limit. */
  readonly expiresAt?: number;
  /** Most prompts open at once in one execution. */
  readonly maxOpen: number;
  readonly now: number;
}

/** What became of it. */
export type PromptRaised =
  | { readonly kind: "raised" }
  | { readonly kind: "limit" }
  | { readonly kind: "duplicate" }
  | { readonly kind: "stale"; readonly problem: FenceProblem };

/** Opens a prompt, at most so many at once. */
export const raisePrompt = defineCommand<PromptDraft, PromptRaised>({
  name: "prompt.raise",
  run(tx, draft) {
    const verdict = checkFence(tx, draft.fence, draft.epoch, ["adopted"]);
    if (verdict.kind === "stale") return verdict;
    const { execution_id: executionId, session_id: sessionId } = verdict.execution;
    const duplicate = tx.get(
      "SELECT 1 FROM prompts WHERE execution_id = ? AND worker_prompt_id = ?",
      executionId,
      draft.workerPromptId,
    );
    if (duplicate !== undefined) return { kind: "duplicate" };
    const open = tx.get<{ count: number }>(
      "SELECT COUNT(*) AS count FROM prompts WHERE execution_id = ? AND end IS NULL",
      executionId,
    );
    if ((open?.count ?? 0) >= draft.maxOpen) return { kind: "limit" };
    tx.run(
      `INSERT INTO prompts (prompt_id, session_id, execution_id, worker_prompt_id, request, created_at, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      draft.promptId,
      sessionId,
      executionId,
      draft.workerPromptId,
      draft.request,
      draft.now,
      draft.expiresAt ?? null,
    );
    touchSession(tx, sessionId, draft.now);
    return { kind: "raised" };
  },
});
