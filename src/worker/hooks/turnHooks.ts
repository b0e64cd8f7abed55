import type { Clock } from "../../base/clock.js";
import { cutToCodePoints, toWellFormed } from "../../base/codePoints.js";
import { HookEvent, type Hook } from "../../gen/talaria/types/v1/policy.js";
import type { CheckedBootstrap } from "../checkBootstrap.js";
import type { WorkerLog } from "../workerLog.js";
import {
  endFacts,
  EVENT_NAMES,
  type HookedFields,
  type HookTool,
  type HookToolEnd,
  type HookTurnEnd,
  toolFacts,
  turnFacts,
} from "./hookEvents.js";

/** The commands that an agent's policy runs at events of a turn. None of them ever fails the turn. */
export interface TurnHooks {
  /** Runs what recalls memory. @returns what it printed, at most 16,384 code points; empty for nothing. */
  recall(): Promise<string>;
  /** Before the runtime starts. */
  turnStarted(): Promise<void>;
  /** Before a tool runs. */
  toolStarted(tool: HookTool): Promise<void>;
  /** After a tool has run. */
  toolCompleted(tool: HookToolEnd): Promise<void>;
  /** Gives the turn to be remembered, with the author of its input. */
  store(end: HookTurnEnd, signal: AbortSignal): Promise<void>;
  /** After the runtime has ended. */
  turnEnded(end: HookTurnEnd, signal: AbortSignal): Promise<void>;
}

/** What {@link createTurnHooks} needs. */
export interface TurnHooksParts {
  readonly bootstrap: Pick<CheckedBootstrap, HookedFields>;
  /** Environment of the worker. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: WorkerLog;
  /** Aborts when the turn is stopped. */
  readonly signal: AbortSignal;
  /** Removes secrets. */
  readonly redact: (text: string) => string;
}

/** Longest recalled text, all hooks together, code points. */
const RECALL_LIMIT = 16_384;
/** Longest time of a hook, and what it has where the policy does not say, milliseconds. */
const LONGEST_MS = 60_000;
const DEFAULT_MS = 5_000;

/** Makes the hooks of a turn. Safe mode has none; without rules there are none of memory. Source: Policy. */
export function createTurnHooks(parts: TurnHooksParts): TurnHooks {
  const { bootstrap, clock, log, signal: turnSignal, redact } = parts;
  const { policy, input } = bootstrap;
  const hooks = policy.safeMode ? [] : policy.hooks.filter(({ event }) => !policy.ignoreRules || !isMemory(event));
  const env = environmentOf(parts.environment);

  const run = async (event: HookEvent, facts: Record<string, unknown>, signal: AbortSignal): Promise<string[]> => {
    const outputs: string[] = [];
    for (const hook of hooks) {
      if (hook.event !== event) continue;
      // Loaded for the first hook: most turns have none.
      const { runHook } = await import("./runHook.js");
      const document = JSON.stringify({ ...turnFacts(event, bootstrap), ...facts });
      const { command } = hook;
      const end = await runHook({ command, env, input: document, timeoutMs: timeoutOf(hook), signal, clock });
      if (end.problem === undefined) outputs.push(end.output);
      else {
        const named = { event: EVENT_NAMES[event], command: command[0], problem: end.problem.slice(0, 1_024) };
        log.warn("a hook failed", named);
      }
    }
    return outputs;
  };

  return {
    async recall() {
      const outputs = await run(HookEvent.HOOK_EVENT_MEMORY_RECALL, { text: input.text }, turnSignal);
      const text = outputs.map((output) => output.trim()).filter((output) => output !== "");
      return cutToCodePoints(toWellFormed(text.join("\n\n")), RECALL_LIMIT, "…");
    },
    async turnStarted() {
      await run(HookEvent.HOOK_EVENT_TURN_STARTED, { text: input.text }, turnSignal);
    },
    async toolStarted(tool) {
      await run(HookEvent.HOOK_EVENT_TOOL_STARTED, toolFacts(tool), turnSignal);
    },
    async toolCompleted(tool) {
      await run(HookEvent.HOOK_EVENT_TOOL_COMPLETED, toolFacts(tool), turnSignal);
    },
    async store(end, signal) {
      await run(HookEvent.HOOK_EVENT_MEMORY_STORE, { text: input.text, ...endFacts(end, redact) }, signal);
    },
    async turnEnded(end, signal) {
      await run(HookEvent.HOOK_EVENT_TURN_ENDED, endFacts(end, redact), signal);
    },
  };
}

function isMemory(event: HookEvent): boolean {
  return event === HookEvent.HOOK_EVENT_MEMORY_RECALL || event === HookEvent.HOOK_EVENT_MEMORY_STORE;
}

function timeoutOf({ timeout }: Hook): number {
  const ms = timeout === undefined ? 0 : Number(timeout.seconds) * 1_000 + timeout.nanos / 1_000_000;
  return ms <= 0 ? DEFAULT_MS : Math.min(LONGEST_MS, ms);
}

/** What the worker was given, but for what makes it a worker. */
function environmentOf(own: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(own).flatMap(([name, value]) =>
      value === undefined || name.startsWith("TALARIA_") || name === "NODE_OPTIONS" ? [] : [[name, value]],
    ),
  );
}
