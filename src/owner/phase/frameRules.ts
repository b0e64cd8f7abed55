import type { AttachRequest } from "../../gen/talaria/owner/v1/owner_service.js";
import type { ExecutionPhase } from "./executionPhase.js";

/** The name of a worker's frame. */
export type WorkerFrameKind = NonNullable<AttachRequest["frame"]>["$case"];

const ALWAYS: readonly WorkerFrameKind[] = ["heartbeat", "error"];

const ALLOWED: Readonly<Record<ExecutionPhase, readonly WorkerFrameKind[]>> = {
  spawned: ["hello"],
  proved: [...ALWAYS, "dryRunDone"],
  exercised: [...ALWAYS, "dryRunDone"],
  bootstrapped: ALWAYS,
  adopted: [...ALWAYS, "ready"],
  running: [...ALWAYS, "events", "approval", "clarify", "promptSettled", "modelCalled", "result"],
  result: ALWAYS,
  finishing: [...ALWAYS, "finished"],
  finished: [],
  interrupted: ALWAYS,
  retired: ALWAYS,
  lost: ALWAYS,
};

/** Whether a worker may send this frame in this phase. Source: DESIGN section 3. */
export function mayArrive(phase: ExecutionPhase, kind: WorkerFrameKind): boolean {
  return ALLOWED[phase].includes(kind);
}
