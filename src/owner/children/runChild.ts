import type { RunChildRequest, RunChildResponse } from "../../gen/talaria/owner/v1/execution_store_service.js";
import { exceedsCodePoints } from "../../base/codePoints.js";
import { invalidField, RpcError } from "../../rpc/rpcError.js";
import type { TraceContext } from "../../rpc/traceContext.js";
import type { TurnParts } from "../turn/turnParts.js";
import type { ChildDesk } from "./childDesk.js";
import { childEnded } from "./childEnded.js";
import { dispatch, type TaskGiver } from "./dispatch.js";

const CHILD_ID = /^[A-Za-z0-9._:-]{1,64}$/;
const TASK_CODE_POINTS = 16_384;

/** The turn that a child works for. */
export interface ChildParent extends TaskGiver {
  readonly children: ChildDesk;
}

/**
 * Runs a child turn and tells what becomes of it. Leaving does not stop the child.
 * @throws RpcError INVALID_FIELD; EXECUTION_ENDED where the parent was stopped; those of {@link dispatch}; what the signal was
 *   aborted with.
 */
export async function* runChild(
  parts: Pick<TurnParts, "store" | "clock" | "random">,
  parent: ChildParent,
  { childId, task }: Pick<RunChildRequest, "childId" | "task">,
  { trace, signal }: { readonly trace: TraceContext; readonly signal: AbortSignal },
): AsyncGenerator<RunChildResponse> {
  if (!CHILD_ID.test(childId))
    throw invalidField("child_id", "has 1 to 64 characters of A-Z, a-z, 0-9, '.', '_', ':', '-'");
  if (task.trim() === "" || task.includes("\0") || exceedsCodePoints(task, TASK_CODE_POINTS)) {
    throw invalidField("task", "has 1 to 16,384 code points, not all white space, and no U+0000");
  }
  if (parent.children.closed) throw new RpcError("EXECUTION_ENDED");
  const { replayed, ...place } = await dispatch(parts, parent, { childId, task, trace });
  const ended = parent.children.take(place);
  yield { update: { $case: "accepted", value: { ...place, replayed } } };
  await untilAborted(ended, signal);
  yield { update: { $case: "ended", value: childEnded(parts.store.reader, place.inputId) } };
}

async function untilAborted(event: Promise<void>, signal: AbortSignal): Promise<void> {
  let stop = (): void => undefined;
  const aborted = new Promise<void>((resolve) => {
    stop = resolve;
    signal.addEventListener("abort", stop, { once: true });
  });
  if (!signal.aborted) await Promise.race([event, aborted]);
  signal.removeEventListener("abort", stop);
  signal.throwIfAborted();
}
