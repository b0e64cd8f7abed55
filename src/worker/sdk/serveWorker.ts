import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { cutToCodePoints } from "../../base/codePoints.js";
import type { RuntimeAnswer } from "../runtimes/runtime.js";
import type { TurnContext } from "../turnContext.js";
import { runWorkerProcess } from "../workerProcess.js";

/** A turn as a worker's program sees it: its input and policy, and every way to the outside. */
export type WorkerTurn = Omit<TurnContext, "muteHeartbeats">;

/** A worker of one's own. */
export interface WorkerDefinition {
  /** Name of the program, at most 64 code points; shown with the turn's evidence. */
  readonly name: string;
  /** Its version, at most 64 code points. */
  readonly version: string;
  /** Model that it will use, for the viewers; default none. */
  readonly model?: string;
  /**
   * Runs the one turn of this process to its end and answers it, with the text alone or with all that a receipt can say. Ends
   * soon after `turn.signal` aborts, with what there is or by throwing the signal's reason. Whatever else it throws ends the
   * worker, and the turn fails with it.
   */
  run(turn: WorkerTurn): Promise<RuntimeAnswer | string>;
}

/** Longest name and version. Source: Build of the contract. */
const BUILD_LIMIT = 64;

/** Places of the thread that watches the launch pipe: beside the built library, and in `dist` where the source runs. */
const LIFELINES = ["../worker/lifelineThread.cjs", "../../../dist/worker/lifelineThread.cjs"];

/**
 * Makes this process a worker of the gateway that has started it: attaches, proves itself, adopts the assignment, runs the turn,
 * gives its receipt and ends the process with the exit code of the contract. Everything of the protocol is kept here: phases,
 * sequence numbers, credit, heartbeats, the launch pipe, prompts, the outbox. Call it once, and leave standard input alone.
 */
export function serveWorker(worker: WorkerDefinition): Promise<never> {
  const { name, version, model = "" } = worker;
  const run = async (turn: TurnContext): Promise<RuntimeAnswer> => {
    const answer = await worker.run(turn);
    return typeof answer === "string" ? { text: answer } : answer;
  };
  const build = {
    name: cutToCodePoints(name, BUILD_LIMIT),
    version: cutToCodePoints(version, BUILD_LIMIT),
    runtime: `node ${process.versions.node}`,
  };
  return runWorkerProcess({
    program: { build, runtimes: () => async () => ({ model, run }) },
    lifelineScript: lifelineScript(),
    keepCode: () => undefined,
  });
}

function lifelineScript(): string {
  const places = LIFELINES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const script = places.find((place) => existsSync(place));
  if (script === undefined) throw new Error(`the thread that watches the launch pipe is missing: ${places.join(", ")}`);
  return script;
}
