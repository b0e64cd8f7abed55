import type { Directive, Step } from "./directive.js";
import { parseDirective } from "./parseDirective.js";

/**
 * Reads an input as a script. Lines that start with `!` are directives, all others are text; consecutive lines of text are one
 * step, and so are consecutive `!ask` lines. A text without directives is one step that holds it unchanged.
 */
export function parseScript(text: string): readonly Step[] {
  const steps: Step[] = [];
  for (const line of text.split("\n")) {
    const step = readLine(line);
    const last = steps.at(-1);
    if (last?.kind === "text" && step.kind === "text") {
      steps[steps.length - 1] = { kind: "text", text: `${last.text}\n${step.text}` };
    } else if (last?.kind === "directive" && step.kind === "directive") {
      const joined = joinAsks(last.directive, step.directive);
      if (joined === undefined) steps.push(step);
      else steps[steps.length - 1] = { kind: "directive", directive: joined };
    } else steps.push(step);
  }
  return steps;
}

/** Most questions of one batch; more make a further one. */
const BATCH = 16;

function readLine(line: string): Step {
  if (!line.startsWith("!")) return { kind: "text", text: line };
  const directive = parseDirective(line.slice(1).replace(/\r$/, ""));
  return typeof directive === "string" ? { kind: "malformed", problem: directive } : { kind: "directive", directive };
}

function joinAsks(a: Directive, b: Directive): Directive | undefined {
  if (a.verb !== "ask" || b.verb !== "ask" || a.questions.length >= BATCH) return undefined;
  return { verb: "ask", questions: [...a.questions, ...b.questions] };
}
