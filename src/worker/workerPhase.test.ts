import { describe, expect, test } from "vitest";
import {
  transition,
  WORKER_PHASES,
  type OwnerFrameKind,
  type PhaseEvent,
  type WorkerFrameKind,
  type WorkerPhase,
} from "./workerPhase.js";

/** For each event the phases that allow it, with the phase that follows; every other pair is out of phase. */
const SENT: Record<WorkerFrameKind, Partial<Record<WorkerPhase, WorkerPhase>>> = {
  hello: { spawned: "attached" },
  dryRunDone: { attached: "exercised", exercised: "exercised" },
  heartbeat: same("attached", "exercised", "bootstrapped", "adopted", "running", "result", "finishing"),
  ready: { adopted: "running" },
  events: same("running"),
  approval: same("running"),
  clarify: same("running"),
  promptSettled: same("running"),
  modelCalled: same("running"),
  result: { running: "result" },
  finished: { finishing: "finished" },
  error: to("failed", "attached", "exercised", "bootstrapped", "adopted", "running", "result", "finishing"),
};
const afterHello: WorkerPhase[] = [
  "attached",
  "exercised",
  "bootstrapped",
  "adopted",
  "running",
  "result",
  "finishing",
  "finished",
  "failed",
];
const RECEIVED: Record<OwnerFrameKind, Partial<Record<WorkerPhase, WorkerPhase>>> = {
  ack: same(...afterHello),
  stop: same(...afterHello),
  draining: same(...afterHello),
  dryRun: same("attached", "exercised", "failed"),
  bootstrap: { attached: "bootstrapped", exercised: "bootstrapped", failed: "failed" },
  finish: { result: "finishing", failed: "failed" },
  approvalAnswer: same("running", "result", "finishing", "failed"),
  clarifyAnswer: same("running", "result", "finishing", "failed"),
  promptRefused: same("running", "result", "finishing", "failed"),
  close: { ...to("closed", ...afterHello), finished: "finished" },
};

function same(...phases: WorkerPhase[]): Partial<Record<WorkerPhase, WorkerPhase>> {
  return Object.fromEntries(phases.map((phase) => [phase, phase]));
}

function to(next: WorkerPhase, ...phases: WorkerPhase[]): Partial<Record<WorkerPhase, WorkerPhase>> {
  return Object.fromEntries(phases.map((phase) => [phase, next]));
}

const events: [string, PhaseEvent, Partial<Record<WorkerPhase, WorkerPhase>>][] = [
  ["adopted", { kind: "adopted" }, { bootstrapped: "adopted" }],
  ...Object.entries(SENT).map(([frame, next]): (typeof events)[number] => [
    `sent ${frame}`,
    { kind: "sent", frame: frame as WorkerFrameKind },
    next,
  ]),
  ...Object.entries(RECEIVED).map(([frame, next]): (typeof events)[number] => [
    `received ${frame}`,
    { kind: "received", frame: frame as OwnerFrameKind },
    next,
  ]),
];

describe.each(events)("%s", (_, event, allowed) => {
  test.each(WORKER_PHASES)("in phase %s", (phase) => {
    expect(transition(phase, event)).toBe(allowed[phase]);
  });
});
