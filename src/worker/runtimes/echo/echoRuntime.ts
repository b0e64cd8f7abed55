import type { TurnContext } from "../../turnContext.js";
import type { Runtime, RuntimeAnswer, RuntimeFailure } from "../runtime.js";
import type { Step } from "./directive.js";
import type { EchoTurn } from "./echoTurn.js";
import { parseScript } from "./parseScript.js";
import { performDirective } from "./performDirective.js";
import { wordsOf } from "./streamSteps.js";

/** What an agent answers that chooses not to answer a message. */
export const SILENCE = "[SILENT]";

/** A runtime without a model: it answers with the text it was given, and obeys the directives in it. */
export function echoRuntime(): Runtime {
  return { model: "", run: (context) => runScript(context) };
}

async function runScript(context: TurnContext): Promise<RuntimeAnswer> {
  const steps = parseScript(context.assignment.input.text);
  const silent = steps.some((step) => step.kind === "directive" && step.directive.verb === "silent");
  const turn: EchoTurn = { context, signal: context.signal, lastDeliveryId: "", held: [] };
  const answer: string[] = [];
  const emit = async (pieces: Iterable<string>): Promise<void> => {
    if (silent) return;
    let first = answer.length > 0;
    for (const piece of pieces) {
      turn.signal.throwIfAborted();
      // Each step begins a line of its own.
      const text: string = first ? `\n${piece}` : piece;
      first = false;
      answer.push(text);
      await context.emitText(text);
    }
  };
  try {
    for (const step of steps) {
      turn.signal.throwIfAborted();
      const failure = await perform(step, turn, emit);
      if (failure !== undefined) return { text: answer.join(""), failure };
    }
  } catch (error) {
    // Stop ends the script where it stands; what was said stays said.
    if (turn.signal.aborted) return { text: answer.join("") };
    throw error;
  }
  return { text: silent ? SILENCE : answer.join("") };
}

async function perform(
  step: Step,
  turn: EchoTurn,
  emit: (pieces: Iterable<string>) => Promise<void>,
): Promise<RuntimeFailure | undefined> {
  switch (step.kind) {
    case "text":
      await emit(wordsOf(step.text));
      return undefined;
    case "malformed":
      return { reason: "RUNTIME_FAILED", message: step.problem, retryable: false };
    case "directive":
      return performDirective(step.directive, turn, emit);
  }
}
