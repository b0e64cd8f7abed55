import type { AttachRequest, AttachResponse } from "../gen/talaria/owner/v1/owner_service.js";

/** A worker's frame. */
export type WorkerFrame = NonNullable<AttachRequest["frame"]>;
/** An owner's frame. */
export type OwnerFrame = NonNullable<AttachResponse["frame"]>;

/** Where a worker stands, as its owner sees it. */
export type WorkerPhase =
  "spawned" | "attached" | "bootstrapped" | "adopted" | "running" | "result" | "finishing" | "finished" | "failed";

const ALWAYS: readonly WorkerFrame["$case"][] = ["heartbeat", "error"];

const ALLOWED: Readonly<Record<WorkerPhase, readonly WorkerFrame["$case"][]>> = {
  spawned: ["hello"],
  attached: [...ALWAYS, "dryRunDone"],
  bootstrapped: ALWAYS,
  adopted: [...ALWAYS, "ready"],
  running: [...ALWAYS, "events", "approval", "clarify", "promptSettled", "modelCalled", "result"],
  result: ALWAYS,
  finishing: [...ALWAYS, "finished"],
  finished: [],
  failed: [],
};

/** The phase after a worker's frame, or undefined where the frame is out of phase. Source: the contract's list of phases. */
export function afterFrame(phase: WorkerPhase, kind: WorkerFrame["$case"]): WorkerPhase | undefined {
  if (!ALLOWED[phase].includes(kind)) return undefined;
  switch (kind) {
    case "hello":
      return "attached";
    case "ready":
      return "running";
    case "result":
      return "result";
    case "finished":
      return "finished";
    case "error":
      return "failed";
    default:
      return phase;
  }
}
