import fc from "fast-check";
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

test("TE-4 whatever happens in whatever order, an ended phase is never left and a result comes once", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...events), fc.nat()), { maxLength: 40 }), (order) => {
      let phase: ExecutionPhase = "spawned";
      let results = 0;
      let ends = 0;
      for (const [anything, choice] of order) {
        // Mostly one that gets on: of events at random few come to a result.
        const onwards = events.filter(
          (one) => one !== "stop" && one !== "fault" && nextPhase(phase, one) !== undefined,
        );
        const event = choice % 4 === 0 ? anything : (onwards[choice % (onwards.length || 1)] ?? anything);
        const next: ExecutionPhase | undefined = nextPhase(phase, event);
        if (next === undefined) continue;
        expect(isEnded(phase)).toBe(false);
        if (next === "result") results += 1;
        if (isEnded(next)) ends += 1;
        phase = next;
      }
      expect(results).toBeLessThanOrEqual(1);
      expect(ends).toBe(isEnded(phase) ? 1 : 0);
      if (phase === "finished") expect(results).toBe(1);
    }),
  );
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
