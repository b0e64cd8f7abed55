import { RpcError } from "../rpc/rpcError.js";
import type { AnswerText } from "./answerText.js";
import type { AttachSession } from "./attachSession.js";
import type { CheckedBootstrap } from "./checkBootstrap.js";
import { type FinalStep, type FinalWorkParts, runFinalWork } from "./finalWork.js";
import type { HookTurnEnd } from "./hooks/hookEvents.js";
import type { TurnHooks } from "./hooks/turnHooks.js";
import { leaveLoop } from "./leaveLoop.js";
import type { Runtime, RuntimeAnswer, RuntimeFailure, RuntimeLoader } from "./runtimes/runtime.js";
import type { StopLatch } from "./stopLatch.js";
import type { TurnContext } from "./turnContext.js";

/** What {@link runTurnRuntime} needs. */
export interface RuntimeParts {
  readonly bootstrap: Pick<CheckedBootstrap, "policy" | "workspace">;
  readonly session: Pick<AttachSession, "send">;
  readonly stop: StopLatch;
  /** Finds what runs the turn. @throws RpcError RUNTIME_CONFIG. */
  readonly runtimes: (name: string) => RuntimeLoader;
  readonly context: TurnContext;
  readonly hooks: TurnHooks;
  /** What was streamed of the answer. */
  readonly streamed: AnswerText;
  readonly finalWork: FinalWorkParts;
  /** Writes what was used where no receipt will say it. */
  readonly flushUsage: () => Promise<void>;
}

/**
 * Builds the turn's runtime, says `ready`, runs it to its answer and does what is left to do then, however it has ended: the runtime's
 * own last work, what is to be remembered, the hooks.
 * @throws what the building or the run has thrown, unless the turn is stopped.
 */
export async function runTurnRuntime(parts: RuntimeParts): Promise<RuntimeAnswer> {
  const { bootstrap, session, stop, runtimes, hooks, streamed } = parts;
  const ready = (model: string): Promise<void> => session.send({ $case: "ready", value: { pid: process.pid, model } });
  if (stop.isStopped()) {
    // A turn that is stopped before it is ready never starts: no runtime is loaded for it.
    await ready("");
    return { text: "" };
  }
  if (bootstrap.workspace !== "") enter(bootstrap.workspace);
  const context = withMemory(parts.context, await hooks.recall());
  await hooks.turnStarted();
  let runtime: Runtime | undefined;
  let answer: RuntimeAnswer = { text: "" };
  try {
    runtime = await runtimes(bootstrap.policy.runtime)(context);
    await ready(runtime.model);
    // The first steps of a runtime may hold the loop for milliseconds.
    await leaveLoop();
    if (!stop.isStopped()) answer = await runtime.run(context);
  } catch (error) {
    if (runtime === undefined || !stop.isStopped()) {
      await finish(parts, context, runtime, { text: streamed.text, failure: failureOf(error) }, parts.flushUsage);
      throw error;
    }
    // A runtime that ends by throwing once the turn is stopped has ended as it should.
    answer = { text: streamed.text };
  }
  await finish(parts, context, runtime, answer);
  return answer;
}

async function finish(
  { hooks, stop, finalWork }: RuntimeParts,
  context: TurnContext,
  runtime: Runtime | undefined,
  answer: RuntimeAnswer,
  flushUsage?: () => Promise<void>,
): Promise<void> {
  const end = (): HookTurnEnd => ({ outcome: outcomeOf(stop, answer), answer });
  const steps: FinalStep[] = [];
  if (runtime?.finalWork !== undefined) {
    steps.push({ name: "runtime", run: async (signal) => runtime.finalWork?.(context, answer, signal) });
  }
  if (runtime !== undefined) steps.push({ name: "memory", run: (signal) => hooks.store(end(), signal) });
  steps.push({ name: "hooks", run: (signal) => hooks.turnEnded(end(), signal) });
  if (flushUsage !== undefined) steps.push({ name: "usage", run: flushUsage });
  await runFinalWork(finalWork, steps);
}

function outcomeOf(stop: StopLatch, answer: RuntimeAnswer): HookTurnEnd["outcome"] {
  if (stop.isStopped()) return "stopped";
  return answer.failure === undefined ? "completed" : "failed";
}

function failureOf(error: unknown): RuntimeFailure {
  const message = error instanceof Error ? error.message : String(error);
  return { reason: error instanceof RpcError ? error.reason : "RUNTIME_FAILED", message };
}

/** The context of a turn whose instructions end with what was recalled for it. */
function withMemory(context: TurnContext, recalled: string): TurnContext {
  if (recalled === "") return context;
  const { assignment } = context;
  const { policy } = assignment;
  const instructions = [policy.instructions, recalled].filter((part) => part !== "").join("\n\n");
  return { ...context, assignment: { ...assignment, policy: { ...policy, instructions } } };
}

function enter(workspace: string): void {
  try {
    process.chdir(workspace);
  } catch (cause) {
    throw new RpcError("RUNTIME_CONFIG", { message: "The agent's workspace cannot be entered.", cause });
  }
}
