import { expect, test } from "vitest";

import { FakeClock } from "../base/testing/fakeClock.js";
import { Bootstrap, StopCause } from "../gen/talaria/owner/v1/owner_service.js";
import { createAnswerText } from "./answerText.js";
import type { CheckedBootstrap } from "./checkBootstrap.js";
import type { TurnHooks } from "./hooks/turnHooks.js";
import { runTurnRuntime } from "./runTurnRuntime.js";
import type { Runtime, RuntimeAnswer } from "./runtimes/runtime.js";
import { createStopLatch } from "./stopLatch.js";
import type { TurnContext } from "./turnContext.js";

function setUp(runtime: Partial<Runtime>, recalled = "") {
  const seen: string[] = [];
  const note =
    (name: string) =>
    (end?: unknown): Promise<void> => {
      const outcome = (end as { readonly outcome?: string } | undefined)?.outcome;
      seen.push(outcome === undefined ? name : `${name} ${outcome}`);
      return Promise.resolve();
    };
  const hooks: TurnHooks = {
    recall: async () => {
      await note("recall")();
      return recalled;
    },
    turnStarted: note("started"),
    toolStarted: note("tool"),
    toolCompleted: note("tool end"),
    store: note("store"),
    turnEnded: note("ended"),
  };
  const bootstrap = Bootstrap.fromPartial({ policy: { runtime: "r", instructions: "Be brief." } }) as CheckedBootstrap;
  const stop = createStopLatch();
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const run = (): Promise<RuntimeAnswer> =>
    runTurnRuntime({
      bootstrap,
      session: { send: ({ $case }) => note($case)() },
      stop,
      runtimes: () => (context) => {
        seen.push(`build: ${context.assignment.policy.instructions}`);
        return Promise.resolve({ model: "m", run: () => Promise.resolve({ text: "answer" }), ...runtime });
      },
      context: { assignment: bootstrap, signal: stop.signal } as unknown as TurnContext,
      hooks,
      streamed: createAnswerText(),
      finalWork: {
        clock: new FakeClock(),
        log,
        budgetMs: 10_000,
        stopped: stop.signal,
        ownerGone: new AbortController().signal,
      },
      flushUsage: note("usage"),
    });
  return { seen, stop, run };
}

test("what is recalled ends the instructions that the runtime sees; its own last work comes first", async () => {
  const final: string[] = [];
  const { seen, run } = setUp(
    {
      run: (context) => Promise.resolve({ text: context.assignment.policy.instructions }),
      finalWork: (context, answer) => {
        final.push(`${context.assignment.policy.instructions} | ${answer.text} | ${seen.join(", ")}`);
        return Promise.resolve();
      },
    },
    "Bob likes tea.",
  );
  const instructions = "Be brief.\n\nBob likes tea.";
  expect(await run()).toEqual({ text: instructions });
  const before = ["recall", "started", `build: ${instructions}`, "ready"];
  expect(seen).toEqual([...before, "store completed", "ended completed"]);
  expect(final).toEqual([`${instructions} | ${instructions} | ${before.join(", ")}`]);
});

test("a turn that is stopped before it is ready has neither runtime nor hooks", async () => {
  const { seen, stop, run } = setUp({});
  stop.stop(StopCause.STOP_CAUSE_CLIENT);
  expect(await run()).toEqual({ text: "" });
  expect(seen).toEqual(["ready"]);
});

test("last work that fails changes no answer", async () => {
  const { seen, run } = setUp({ finalWork: () => Promise.reject(new Error("no title")) });
  expect(await run()).toEqual({ text: "answer" });
  expect(seen.slice(-2)).toEqual(["store completed", "ended completed"]);
});

test("a run that throws has its last work, and throws", async () => {
  const { seen, run } = setUp({ run: () => Promise.reject(new Error("boom")) });
  await expect(run()).rejects.toThrow("boom");
  expect(seen.slice(-3)).toEqual(["store failed", "ended failed", "usage"]);
});
