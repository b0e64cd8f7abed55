import { expect, test } from "vitest";

import { lossOutcome } from "../turn/lossOutcome.js";
import { type ExecutionPhase, isEnded, nextPhase, type PhaseEvent } from "./executionPhase.js";
import { mayArrive } from "./frameRules.js";

const phases: readonly ExecutionPhase[] = [
  "spawned",
  "proved",
  "exercised",
  "bootstrapped",
  "adopted",
  "running",
  "result",
  "finishing",
  "finished",
  "interrupted",
  "retired",
  "lost",
];
const events: readonly PhaseEvent[] = [
  "prove",
  "exercise",
  "retire",
  "bootstrap",
  "adopt",
  "ready",
  "result",
  "finish",
  "leave",
  "stop",
  "fault",
];
const ended = phases.filter(isEnded);

test("the ended phases are those that nothing leads out of", () => {
  expect(ended).toEqual(["finished", "interrupted", "retired", "lost"]);
  for (const phase of ended) for (const event of events) expect(nextPhase(phase, event)).toBeUndefined();
});

test("the straight way leads to finished, pooled or not", () => {
  const walk = (...steps: readonly PhaseEvent[]): ExecutionPhase | undefined =>
    steps.reduce<ExecutionPhase | undefined>((phase, step) => phase && nextPhase(phase, step), "spawned");
  expect(walk("prove", "bootstrap", "adopt", "ready", "result", "finish", "leave")).toBe("finished");
  expect(walk("prove", "exercise", "exercise", "bootstrap", "adopt", "ready", "result", "finish", "leave")).toBe(
    "finished",
  );
  expect(walk("prove", "exercise", "retire")).toBe("retired");
});

test("a fault loses every phase that has not ended; Stop interrupts only what does not run yet", () => {
  for (const phase of phases.filter((one) => !isEnded(one))) {
    expect(nextPhase(phase, "fault")).toBe("lost");
    const stopped = ["running", "result", "finishing"].includes(phase) ? undefined : "interrupted";
    expect(nextPhase(phase, "stop")).toBe(stopped);
  }
});

/** A phase with what a worker went through on its way there. */
interface Walked {
  readonly phase: ExecutionPhase;
  readonly results: number;
  readonly ends: number;
}

/** Everything that a worker can go through, by whatever events: few enough to look at all of it. Counts stop at two. */
function everyWalk(): readonly Walked[] {
  const found = new Map<string, Walked>();
  const open: Walked[] = [{ phase: "spawned", results: 0, ends: 0 }];
  for (let walked = open.pop(); walked !== undefined; walked = open.pop()) {
    const key = JSON.stringify(walked);
    if (found.has(key)) continue;
    found.set(key, walked);
    for (const event of events) {
      const phase = nextPhase(walked.phase, event);
      if (phase === undefined) continue;
      const results = Math.min(2, walked.results + (phase === "result" ? 1 : 0));
      const ends = Math.min(2, walked.ends + (isEnded(phase) ? 1 : 0));
      open.push({ phase, results, ends });
    }
  }
  return [...found.values()];
}

test("TE-4 whatever happens in whatever order, an ended phase is never left and a result comes once", () => {
  const walks = everyWalk();
  expect(new Set(walks.map(({ phase }) => phase))).toEqual(new Set(phases));
  for (const { phase, results, ends } of walks) {
    expect(results).toBeLessThanOrEqual(1);
    expect(ends).toBe(isEnded(phase) ? 1 : 0);
    if (phase === "finished") expect(results).toBe(1);
  }
});

test("nothing but a word of trouble arrives once a turn has its outcome, and no result before it runs", () => {
  for (const phase of phases) {
    expect(mayArrive(phase, "result")).toBe(phase === "running");
    expect(mayArrive(phase, "finished")).toBe(phase === "finishing");
    expect(mayArrive(phase, "hello")).toBe(phase === "spawned");
    expect(mayArrive(phase, "events")).toBe(phase === "running");
  }
});

test("the outcome of a loss: unknown wherever something may have happened that nobody recorded", () => {
  for (const phase of phases) {
    for (const stopped of [true, false]) {
      const started = !["spawned", "proved", "exercised", "bootstrapped"].includes(phase);
      expect(lossOutcome({ phase, stopped, toolOpen: false, ownerDied: true })).toBe(started ? "unknown" : "failed");
      expect(lossOutcome({ phase, stopped, toolOpen: true, ownerDied: false })).toBe("unknown");
    }
    expect(lossOutcome({ phase, stopped: false, toolOpen: false, ownerDied: false })).toBe("failed");
  }
  const early: readonly ExecutionPhase[] = ["spawned", "proved", "exercised", "bootstrapped", "adopted"];
  for (const phase of ["running", "result", ...early] as const) {
    const outcome = early.includes(phase) ? "interrupted" : "failed";
    expect(lossOutcome({ phase, stopped: true, toolOpen: false, ownerDied: false })).toBe(outcome);
  }
});
