import { createHash } from "node:crypto";

import { piecesOf } from "../../base/codePoints.js";
import { defineCommand } from "../command.js";
import { retryOfTurn } from "../deliveries/retryDelivery.js";
import { chunkedAnswer } from "../queries/chunkedAnswer.js";
import type { StoredFailure } from "../storedFailure.js";
import type { Tx } from "../sql.js";
import { addUsageToDay } from "../usage/addUsageToDay.js";
import { addUsageToSession } from "../usage/addUsageToSession.js";
import { appendMessages } from "./appendMessages.js";
import type { DeliveryEffects } from "../deliveries/deliveryEffects.js";
import type { FenceProblem, StoredFence } from "./fence.js";
import { checkFence } from "./fence.js";
import { settleTurn } from "./settleTurn.js";
import type { StoredUsage } from "../usage/storedUsage.js";
import type { StoredAuthor } from "./storedAuthor.js";

/** Text of one row of an answer that came in chunks, code points: a row must fit in one message, with everything around it. */
const ROW_CODE_POINTS = 262_144;

/** A validated receipt and what the owner makes of it. */
export interface ResultCommit {
  readonly fence: StoredFence;
  readonly epoch: number;
  readonly outcome: "completed" | "failed" | "interrupted";
  readonly failure?: StoredFailure;
  /** Whether a Stop was latched; then a message's turn is not run again. Default false. */
  readonly stopped?: boolean;
  /** Encoded talaria.types.v1.TurnResult. */
  readonly result: Uint8Array;
  /** The answer where it came inline. */
  readonly answer: string;
  /** SHA-256 of the answer's UTF-8 bytes where it came in chunks; the chunks must match. */
  readonly chunkedAnswerSha256?: Uint8Array;
  readonly usage: StoredUsage;
  /** The agent, as author of the answer's row. */
  readonly author: StoredAuthor;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What became of it. */
export type ResultCommitResult =
  | { readonly kind: "committed"; readonly effects: DeliveryEffects; readonly answer: string }
  | { readonly kind: "answer_mismatch" }
  | { readonly kind: "stale"; readonly problem: FenceProblem };

/**
 * Fixes a turn's outcome: receipt, transcript, usage, prompts and the delivery that brought the input change together.
 * The session stays taken until its process group is proved gone.
 */
export const commitResult = defineCommand<ResultCommit, ResultCommitResult>({
  name: "execution.result",
  run(tx, commit) {
    const verdict = checkFence(tx, commit.fence, commit.epoch, ["adopted"]);
    if (verdict.kind === "stale") return verdict;
    const { execution } = verdict;
    const answer = answerOf(tx, commit);
    if (answer === undefined) return { kind: "answer_mismatch" };
    tx.run(
      "UPDATE executions SET state = 'result', result = ? WHERE execution_id = ?",
      commit.result,
      execution.execution_id,
    );
    const { outcome, failure, stopped = false, now } = commit;
    const end = { inputId: execution.input_id, executionId: execution.execution_id, outcome, failure, stopped, now };
    // What a turn said before it failed would stand in its retry's way as an answer.
    if (answer !== "" && retryOfTurn(tx, end) === undefined) {
      const texts = commit.chunkedAnswerSha256 === undefined ? [answer] : piecesOf(answer, ROW_CODE_POINTS);
      const { author } = commit;
      const executionId = execution.execution_id;
      const rows = texts.map((text) => ({ role: "assistant" as const, text, author, executionId }));
      appendMessages(tx, execution.session_id, rows, now);
    }
    addUsageToSession(tx, execution.session_id, commit.usage);
    addUsageToDay(tx, execution.session_id, commit.usage, now);
    const effects = settleTurn(tx, {
      execution,
      outcome,
      stopped,
      text: answer,
      now,
      ...(failure === undefined ? {} : { failure }),
    });
    return { kind: "committed", effects, answer };
  },
});

function answerOf(tx: Tx, commit: ResultCommit): string | undefined {
  if (commit.chunkedAnswerSha256 === undefined) return commit.answer;
  const answer = chunkedAnswer(tx, commit.fence.executionId);
  const digest = createHash("sha256").update(answer).digest();
  return Buffer.compare(digest, commit.chunkedAnswerSha256) === 0 ? answer : undefined;
}
