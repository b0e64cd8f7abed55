import { assertNever } from "../base/assertNever.js";
import type { AttachRequest, AttachResponse } from "../gen/talaria/owner/v1/owner_service.js";

/** Names of the frames that a worker sends. */
export type WorkerFrameKind = NonNullable<AttachRequest["frame"]>["$case"];

/** Names of the frames that an owner sends. */
export type OwnerFrameKind = NonNullable<AttachResponse["frame"]>["$case"];

/** Every phase of a worker, in order. Source: the state diagram of the contract. */
export const WORKER_PHASES = [
  /** Nothing was sent. */
  "spawned",
  /** `hello` was sent. */
  "attached",
  /** A dry run was answered. */
  "exercised",
  /** `bootstrap` has arrived: policy is frozen. */
  "bootstrapped",
  /** Adopt has answered. */
  "adopted",
  /** `ready` was sent: the turn runs. */
  "running",
  /** `result` was sent. */
  "result",
  /** `finish` has arrived. */
  "finishing",
  /** `finished` was sent. */
  "finished",
  /** `error` was sent: nothing follows. */
  "failed",
  /** `close` has arrived: nothing is sent any more. */
  "closed",
] as const;

/** One of {@link WORKER_PHASES}. */
export type WorkerPhase = (typeof WORKER_PHASES)[number];

/** What moves a worker: a frame in either direction, or Adopt's answer. */
export type PhaseEvent =
  | { readonly kind: "sent"; readonly frame: WorkerFrameKind }
  | { readonly kind: "received"; readonly frame: OwnerFrameKind }
  | { readonly kind: "adopted" };

/** The next phase, or undefined where the event is out of phase. */
export function transition(phase: WorkerPhase, event: PhaseEvent): WorkerPhase | undefined {
  switch (event.kind) {
    case "adopted":
      return phase === "bootstrapped" ? "adopted" : undefined;
    case "sent":
      return afterSending(phase, event.frame);
    case "received":
      return afterReceiving(phase, event.frame);
    default:
      return assertNever(event, "phase event");
  }
}

function afterSending(phase: WorkerPhase, frame: WorkerFrameKind): WorkerPhase | undefined {
  switch (frame) {
    case "hello":
      return phase === "spawned" ? "attached" : undefined;
    case "dryRunDone":
      return phase === "attached" || phase === "exercised" ? "exercised" : undefined;
    case "heartbeat":
      return isOpen(phase) && phase !== "spawned" && phase !== "finished" ? phase : undefined;
    case "ready":
      return phase === "adopted" ? "running" : undefined;
    case "events":
    case "approval":
    case "clarify":
    case "promptSettled":
    case "modelCalled":
      return phase === "running" ? phase : undefined;
    case "result":
      return phase === "running" ? "result" : undefined;
    case "finished":
      return phase === "finishing" ? "finished" : undefined;
    case "error":
      return isOpen(phase) && phase !== "spawned" && phase !== "finished" ? "failed" : undefined;
    default:
      return assertNever(frame, "frame");
  }
}

function afterReceiving(phase: WorkerPhase, frame: OwnerFrameKind): WorkerPhase | undefined {
  // Nothing comes before hello, nothing after close, and what crosses an error frame on its way is of no interest.
  if (phase === "spawned" || phase === "closed") return undefined;
  if (phase === "failed") return frame === "close" ? "closed" : phase;
  switch (frame) {
    case "ack":
    case "stop":
    case "draining":
      return phase;
    case "close":
      return phase === "finished" ? phase : "closed";
    case "dryRun":
      return phase === "attached" || phase === "exercised" ? phase : undefined;
    case "bootstrap":
      return phase === "attached" || phase === "exercised" ? "bootstrapped" : undefined;
    case "finish":
      return phase === "result" ? "finishing" : undefined;
    case "approvalAnswer":
    case "clarifyAnswer":
    case "promptRefused":
      // An answer may cross the end of its prompt, and the result.
      return phase === "running" || phase === "result" || phase === "finishing" ? phase : undefined;
    default:
      return assertNever(frame, "frame");
  }
}

function isOpen(phase: WorkerPhase): boolean {
  return phase !== "failed" && phase !== "closed";
}
