/**
 * Where a worker stands, as its owner sees it. Source: DESIGN section 3.
 * - `spawned`: its process runs; nothing is believed yet.
 * - `proved`: token, process table and kernel agree.
 * - `exercised`: a pooled worker has run its practice rounds.
 * - `bootstrapped`: the assignment was sent.
 * - `adopted`: the worker has bound a connection of its own to it.
 * - `running`: the turn runs.
 * - `result`: the receipt is committed; the outcome is fixed.
 * - `finishing`: `finish` was sent.
 * - `finished`: its store stream ended, it said so, and it left with 0.
 * - `interrupted`: stopped before it ran.
 * - `retired`: a pooled worker that was never used.
 * - `lost`: anything else; the evidence is kept.
 */
export type ExecutionPhase =
  | "spawned"
  | "proved"
  | "exercised"
  | "bootstrapped"
  | "adopted"
  | "running"
  | "result"
  | "finishing"
  | "finished"
  | "interrupted"
  | "retired"
  | "lost";

/** What can happen to a worker. */
export type PhaseEvent =
  "prove" | "exercise" | "retire" | "bootstrap" | "adopt" | "ready" | "result" | "finish" | "leave" | "stop" | "fault";

type Table = Readonly<Record<ExecutionPhase, Readonly<Partial<Record<PhaseEvent, ExecutionPhase>>>>>;

// Stop is no event of a running turn: there it is a request, and the result says how it ended.
const TABLE: Table = {
  spawned: { prove: "proved", stop: "interrupted", fault: "lost" },
  proved: { exercise: "exercised", retire: "retired", bootstrap: "bootstrapped", stop: "interrupted", fault: "lost" },
  exercised: {
    exercise: "exercised",
    retire: "retired",
    bootstrap: "bootstrapped",
    stop: "interrupted",
    fault: "lost",
  },
  bootstrapped: { adopt: "adopted", stop: "interrupted", fault: "lost" },
  adopted: { ready: "running", adopt: "adopted", stop: "interrupted", fault: "lost" },
  running: { result: "result", adopt: "running", fault: "lost" },
  result: { finish: "finishing", fault: "lost" },
  finishing: { leave: "finished", fault: "lost" },
  finished: {},
  interrupted: {},
  retired: {},
  lost: {},
};

/** The phase after an event, or undefined where the event is out of place. */
export function nextPhase(phase: ExecutionPhase, event: PhaseEvent): ExecutionPhase | undefined {
  return TABLE[phase][event];
}

/** Whether nothing can happen any more. */
export function isEnded(phase: ExecutionPhase): boolean {
  return Object.keys(TABLE[phase]).length === 0;
}

/** Whether nothing of a turn can have begun in its worker, so that another one may stand in for it. */
export function mayReplace(phase: ExecutionPhase): boolean {
  return phase === "proved" || phase === "exercised" || phase === "bootstrapped";
}
