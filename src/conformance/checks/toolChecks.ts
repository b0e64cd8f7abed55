import { LIMITS } from "../../base/limits.js";
import type { Check } from "../check.js";
import { need } from "../checkFailure.js";
import type { Trial } from "../trial.js";

const LONG = 70_000;

async function toolTurn(trial: Trial, text: string) {
  await trial.turn(text);
  const events = trial.attachment.events.map(({ event }) => event);
  const started = events.findIndex((event) => event?.$case === "toolStarted");
  const completed = events.findIndex((event) => event?.$case === "toolCompleted");
  const [first, last] = [events[started], events[completed]];
  need(first?.$case === "toolStarted" && last?.$case === "toolCompleted", "there is no pair of tool events");
  need(started < completed, "the tool was completed before it was started");
  need(first.value.toolCallId === last.value.toolCallId, "the two events have different ids");
  return { started: first.value, completed: last.value };
}

/** Tool events. */
export const toolChecks: readonly Check[] = [
  {
    name: "tool",
    rule: "A tool call is a start with arguments and an end with the result, under one id.",
    needs: "tools",
    run: async (trial) => {
      const { started, completed } = await toolTurn(trial, '!tool look {"at":"sky"} => blue');
      need(started.name === "look" && completed.name === "look", "the tool's name is another");
      need(started.arguments?.["at"] === "sky", "the arguments are others");
      need(completed.result === "blue" && !completed.isError, "the result is another");
      return `id ${JSON.stringify(started.toolCallId)}`;
    },
  },
  {
    name: "tool bounds",
    rule: "Arguments over 64 KiB are reduced to 32 KiB, a result over 64 KiB to its first 32 KiB, and both are marked.",
    needs: "tool-bounds",
    run: async (trial) => {
      const text = `!tool look {"at":"${"a".repeat(LONG)}"} => ${"r".repeat(LONG)}`;
      const { started, completed } = await toolTurn(trial, text);
      const json = Buffer.byteLength(JSON.stringify(started.arguments ?? {}));
      need(
        started.truncated && json <= LIMITS.toolArgumentsBytes,
        `arguments of ${String(json)} bytes are not marked as cut`,
      );
      const bytes = Buffer.byteLength(completed.result);
      need(
        completed.truncated && bytes <= LIMITS.toolResultReducedBytes,
        `a result of ${String(bytes)} bytes is not marked as cut`,
      );
      return `${String(json)} and ${String(bytes)} bytes`;
    },
  },
];
