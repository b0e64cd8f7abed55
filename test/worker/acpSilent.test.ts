import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { systemClock, type Clock } from "../../src/base/clock.js";
import { Bootstrap } from "../../src/gen/talaria/owner/v1/owner_service.js";
import { runAcpTurn } from "../../src/worker/runtimes/acp/acpTurn.js";
import type { TurnContext } from "../../src/worker/turnContext.js";

const script = fileURLToPath(new URL("./acpAgent.mjs", import.meta.url));
const BOUND_MS = 60_000;

/** A clock on which the bound of the nth call is over at once; what else is waited for takes its time. */
function boundOver(nth: number): Clock {
  let calls = 0;
  return {
    ...systemClock,
    after(ms, run) {
      if (ms !== BOUND_MS) return systemClock.after(ms, run);
      calls += 1;
      return systemClock.after(calls === nth ? 0 : ms, run);
    },
  };
}

test.each([
  ["silent", 1, "initialize"],
  ["forgetful", 2, "session/new"],
] as const)("a %s agent fails the turn when the bound of its call %i, %s, is over", async (mode, nth, call) => {
  const context = {
    assignment: Bootstrap.fromPartial({ policy: { runtime: "acp" }, input: { text: "hello" } }),
    clock: boundOver(nth),
    signal: new AbortController().signal,
  } as unknown as TurnContext;
  const answer = await runAcpTurn(context, { command: [process.execPath, script, mode], env: {} });
  const message = `The agent gave no answer to ${call} in 60 s.`;
  expect(answer).toMatchObject({ text: "", failure: { reason: "RUNTIME_FAILED", message, retryable: false } });
});
