import { cutToCodePoints } from "../../base/codePoints.js";
import { digestOf } from "../../base/digest.js";
import { newId } from "../../base/ids.js";
import { LIMITS } from "../../base/limits.js";
import { reasonError } from "../../rpc/rpcError.js";
import { formatTraceparent, type TraceContext } from "../../rpc/traceContext.js";
import type { ClaimedInput } from "../../store/turns/claimInput.js";
import { dispatchChild } from "../../store/turns/dispatchChild.js";
import type { StoredFence } from "../../store/turns/fence.js";
import { fenceError } from "../store/fenceError.js";
import { agentAuthor } from "../turn/agentAuthor.js";
import type { TurnParts } from "../turn/turnParts.js";
import type { ChildPlace } from "./childDesk.js";
import { childPolicy } from "./childPolicy.js";

/** Longest title of a child's session, code points: the beginning of its task. */
const TITLE_CODE_POINTS = 80;

/** A task for a child turn, checked. */
export interface ChildTask {
  /** The worker's id for the child. */
  readonly childId: string;
  readonly task: string;
  /** Trace of the call that gives it. */
  readonly trace: TraceContext;
}

/** The turn that gives a task. */
export interface TaskGiver {
  readonly claimed: ClaimedInput;
  readonly fence: StoredFence;
}

/**
 * Puts a child turn on disk, once for each id. It stands under everything that its parent stands under: the agent, the frozen policy,
 * whether somebody can answer prompts, and what holds for turns that a message started.
 * @throws RpcError CHILD_LIMIT, CHILD_DEPTH, REQUEST_CONFLICT; the fence's reason where it is stale; StorageError.
 */
export async function dispatch(
  { store, clock, random }: Pick<TurnParts, "store" | "clock" | "random">,
  { claimed, fence }: TaskGiver,
  { childId, task, trace }: ChildTask,
): Promise<ChildPlace & { readonly replayed: boolean }> {
  const { agent, input } = claimed;
  const now = clock.now();
  const result = await store.writer.execute(dispatchChild, {
    fence,
    epoch: store.epoch,
    childId,
    agent,
    title: cutToCodePoints((task.trim().split("\n", 1)[0] ?? "").replaceAll(/\p{Cc}/gu, " "), TITLE_CODE_POINTS),
    policy: childPolicy(claimed),
    input: {
      inputId: newId("inp", random),
      sessionId: newId("ses", random),
      principal: `agent:${agent}`,
      requestScope: fence.executionId,
      requestId: childId,
      digest: Buffer.from(digestOf([task]), "hex"),
      author: agentAuthor(agent),
      attribution: "",
      text: task,
      depth: input.depth,
      fromMessage: input.from_message === 1,
      headless: input.headless === 1,
      traceparent: formatTraceparent(trace),
      tracestate: input.tracestate,
      now,
    },
    maxChildren: LIMITS.children,
    maxDepth: LIMITS.childDepth,
  });
  switch (result.kind) {
    case "dispatched":
    case "replayed":
      return { sessionId: result.sessionId, inputId: result.inputId, replayed: result.kind === "replayed" };
    case "conflict":
      throw reasonError("REQUEST_CONFLICT");
    case "limit":
      throw reasonError("CHILD_LIMIT");
    case "too_deep":
      throw reasonError("CHILD_DEPTH");
    case "stale":
      throw fenceError(result.problem);
  }
}
