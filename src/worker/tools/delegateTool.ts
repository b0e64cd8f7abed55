import { z } from "zod";

import { exceedsCodePoints } from "../../base/codePoints.js";
import { LIMITS } from "../../base/limits.js";
import type { ChildEnded } from "../../gen/talaria/owner/v1/execution_store_service.js";
import { TurnOutcome } from "../../gen/talaria/types/v1/result.js";
import { reasonOfNumber } from "../../rpc/reasons.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { TurnContext } from "../turnContext.js";
import type { Tool } from "./tool.js";

const TASK_CODE_POINTS = 16_384;

/** What the tool needs of its turn. */
export type DelegateContext = Pick<TurnContext, "delegate" | "signal"> & {
  readonly assignment: Pick<TurnContext["assignment"], "childDepth">;
};

const delegateArguments = z.object({
  task: z
    .string()
    .refine((task) => task.trim() !== "" && !task.includes("\0"), "is empty or holds U+0000")
    .refine((task) => !exceedsCodePoints(task, TASK_CODE_POINTS), "is longer than 16,384 code points"),
});

/** The `delegate` tool of a turn; undefined where the turn is so deep in a tree of child turns that it has none of its own. */
export function delegateTool(context: DelegateContext): Tool | undefined {
  if (context.assignment.childDepth >= LIMITS.childDepth) return undefined;
  return {
    name: "delegate",
    description:
      "Gives a task to a fresh assistant with your instructions, tools and workspace, and returns its answer. It knows nothing " +
      "of this conversation: write down everything that it needs. Tasks given at the same time run one after another, at most " +
      `${String(LIMITS.children)} in a turn.`,
    parameters: {
      type: "object",
      properties: { task: { type: "string", description: "The task, complete in itself." } },
      required: ["task"],
      additionalProperties: false,
    },
    run: (args, { callId }) => run(context, args, callId),
  };
}

/** @throws the reason of the stop where the turn is stopped meanwhile; what is no RpcError. */
async function run(context: DelegateContext, args: unknown, callId: string): Promise<string> {
  const parsed = delegateArguments.safeParse(args);
  if (!parsed.success) {
    const error = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
    return JSON.stringify({ status: "refused", reason: "INVALID_FIELD", error, detail: NOT_STARTED });
  }
  try {
    return endText(await context.delegate(parsed.data.task, callId));
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof RpcError)) throw error;
    const { reason, wireReason, message, hint } = error;
    return JSON.stringify({
      status: "refused",
      reason: wireReason ?? reason,
      error: message,
      hint,
      detail: NOT_STARTED,
    });
  }
}

const NOT_STARTED = "Nobody works on the task.";

const WORDS: Readonly<Partial<Record<TurnOutcome, readonly [status: string, detail: string]>>> = {
  [TurnOutcome.TURN_OUTCOME_COMPLETED]: ["completed", ""],
  [TurnOutcome.TURN_OUTCOME_FAILED]: ["failed", "The task was not completed. What was done until then stays done."],
  [TurnOutcome.TURN_OUTCOME_INTERRUPTED]: ["stopped", "The task was stopped. What was done until then stays done."],
  [TurnOutcome.TURN_OUTCOME_CANCELLED]: ["stopped", "The task was withdrawn before anybody began it."],
};
const UNKNOWN = ["unknown", "It is not known what was done of the task: look before you repeat it."] as const;

function endText({ outcome, answer, answerTruncated, failure }: ChildEnded): string {
  const [status, detail] = WORDS[outcome] ?? UNKNOWN;
  return JSON.stringify({
    status,
    ...(answer === "" ? {} : { answer }),
    ...(answerTruncated ? { answer_truncated: true } : {}),
    ...(failure === undefined
      ? {}
      : { reason: reasonOfNumber(failure.reason) ?? failure.foreignReason, error: failure.message }),
    ...(detail === "" ? {} : { detail }),
  });
}
