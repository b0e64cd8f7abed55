import { defineCommand } from "../command.js";
import type { FenceProblem, StoredFence } from "./fence.js";
import { checkFence } from "./fence.js";
import type { InputDraft } from "./inputDraft.js";
import { insertInput } from "./insertInput.js";
import { insertSession } from "./insertSession.js";

/** A task that a running turn gives to a child turn. */
export interface ChildDispatch {
  /** The parent's. */
  readonly fence: StoredFence;
  readonly epoch: number;
  /** The worker's id for the child, unique in the execution. */
  readonly childId: string;
  readonly agent: string;
  /** Title of the child's session. */
  readonly title: string;
  /** Encoded talaria.types.v1.Policy of the child's session. */
  readonly policy: Uint8Array;
  /** The child's input; its session is created under the input's session id. */
  readonly input: InputDraft;
  /** Most children of one execution. */
  readonly maxChildren: number;
  /** Deepest child in a tree of child turns. */
  readonly maxDepth: number;
}

/** What became of it. */
export type ChildDispatchResult =
  | {
      /** `replayed`: an earlier call made this child. */
      readonly kind: "dispatched" | "replayed";
      readonly sessionId: string;
      readonly inputId: string;
    }
  /** The id was used for another task. */
  | { readonly kind: "conflict" }
  | { readonly kind: "limit" }
  | { readonly kind: "too_deep" }
  | { readonly kind: "stale"; readonly problem: FenceProblem };

/** Makes a child of a running turn, with a session and an input of its own, once for each id. */
export const dispatchChild = defineCommand<ChildDispatch, ChildDispatchResult>({
  name: "child.dispatch",
  run(tx, dispatch) {
    const verdict = checkFence(tx, dispatch.fence, dispatch.epoch, ["adopted"]);
    if (verdict.kind === "stale") return verdict;
    const { execution_id: executionId, session_id: parentSessionId } = verdict.execution;
    const { input, childId } = dispatch;
    const earlier = tx.get<{ task: string; session_id: string | null; input_id: string | null }>(
      "SELECT task, session_id, input_id FROM children WHERE execution_id = ? AND child_id = ?",
      executionId,
      childId,
    );
    if (earlier !== undefined) {
      const { session_id: sessionId, input_id: inputId } = earlier;
      if (sessionId === null || inputId === null || earlier.task !== input.text) return { kind: "conflict" };
      return { kind: "replayed", sessionId, inputId };
    }
    const session = tx.get<{ child_depth: number }>(
      "SELECT child_depth FROM sessions WHERE session_id = ?",
      parentSessionId,
    );
    const childDepth = (session?.child_depth ?? 0) + 1;
    if (childDepth > dispatch.maxDepth) return { kind: "too_deep" };
    const children = tx.get<{ count: number }>(
      "SELECT COUNT(*) AS count FROM children WHERE execution_id = ? AND session_id IS NOT NULL",
      executionId,
    );
    if ((children?.count ?? 0) >= dispatch.maxChildren) return { kind: "limit" };
    insertSession(tx, {
      sessionId: input.sessionId,
      agent: dispatch.agent,
      title: dispatch.title,
      botChat: false,
      // Nobody waits behind a child's input: there is no next one.
      onUnknown: "continue",
      policy: dispatch.policy,
      parent: { executionId, sessionId: parentSessionId, childDepth },
      now: input.now,
    });
    insertInput(tx, input);
    tx.run(
      `INSERT INTO children (execution_id, child_id, state, task, answer, session_id, input_id, updated_at)
       VALUES (?, ?, 'dispatched', ?, '', ?, ?, ?)`,
      executionId,
      childId,
      input.text,
      input.sessionId,
      input.inputId,
      input.now,
    );
    return { kind: "dispatched", sessionId: input.sessionId, inputId: input.inputId };
  },
});
