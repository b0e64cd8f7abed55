import { cutToCodePoints, exceedsCodePoints } from "../../base/codePoints.js";
import { LIMITS } from "../../base/limits.js";
import type { ChildEnded } from "../../gen/talaria/owner/v1/execution_store_service.js";
import { TurnOutcome } from "../../gen/talaria/types/v1/result.js";
import { chunkedAnswer } from "../../store/queries/chunkedAnswer.js";
import type { Queryable } from "../../store/sql.js";
import { readTurn } from "../records/readTurn.js";

/** How a child turn ended, from its records. */
export function childEnded(at: Queryable, inputId: string): ChildEnded {
  const turn = readTurn(at, inputId);
  const { result } = turn ?? {};
  const answer =
    result?.answer === undefined ? (result?.finalResponse ?? "") : chunkedAnswer(at, turn?.executionId ?? "");
  return {
    outcome: turn?.outcome ?? TurnOutcome.TURN_OUTCOME_UNKNOWN,
    answer: cutToCodePoints(answer, LIMITS.childAnswerCodePoints),
    answerTruncated: exceedsCodePoints(answer, LIMITS.childAnswerCodePoints),
    failure: turn?.failure,
    usage: turn?.usage,
  };
}
