import { expect, test } from "vitest";

import { DeltaChannel, type TurnEvent } from "../../gen/talaria/types/v1/event.js";
import { TurnView } from "./turnView.js";

const delta = (text: string, channel: DeltaChannel = DeltaChannel.DELTA_CHANNEL_ANSWER): TurnEvent => ({
  event: { $case: "delta", value: { text, channel } },
});
const started: TurnEvent = {
  event: { $case: "toolStarted", value: { toolCallId: "1", name: "clock", arguments: undefined, truncated: false } },
};

function shown(live: boolean, events: readonly TurnEvent[], answer: string): string {
  let output = "";
  const view = new TurnView({ out: (text) => (output += text), paint: (_, __, text) => text, columns: 40 }, live);
  for (const event of events) view.show(event);
  view.finish(answer);
  return output;
}

test("in a terminal text comes as it is written, once", () => {
  expect(shown(true, [delta("Hel"), delta("lo")], "Hello")).toBe("Hello\n");
});

test("in a terminal tools have lines of their own and reasoning is left out", () => {
  const events = [delta("thinking", DeltaChannel.DELTA_CHANNEL_REASONING), delta("Wait"), started, delta("Done")];
  expect(shown(true, events, "Done")).toBe("Wait\n[clock]\nDone\n");
});

test("in a terminal an answer without text events is printed", () => {
  expect(shown(true, [], "Hello")).toBe("Hello\n");
});

test("piped, the answer alone is printed", () => {
  expect(shown(false, [delta("Hel"), started, delta("lo")], "Hello")).toBe("Hello\n");
  expect(shown(false, [], "")).toBe("");
});

test("a tool's line is cut to the width of the terminal and steers nothing", () => {
  const result = `\u001b[2Jfirst ${"x".repeat(80)}\nsecond`;
  const event: TurnEvent = {
    event: {
      $case: "toolCompleted",
      value: { toolCallId: "1", name: "clock", result, isError: true, truncated: false, durationMs: 12n },
    },
  };
  expect(shown(true, [event], "")).toMatch(/^\[clock: failed in 12 ms\]  \[2Jfirst x+…\n$/);
  expect(shown(true, [event], "")).toHaveLength(40);
});

test("while a person is asked, what comes is kept back and then shown once", () => {
  let output = "";
  const view = new TurnView({ out: (text) => (output += text), paint: (_, __, text) => text, columns: 40 }, true);
  view.show(delta("Before"));
  view.hold();
  view.show(delta("After"));
  expect(output).toBe("Before\n");
  view.release();
  view.finish("BeforeAfter");
  expect(output).toBe("Before\nAfter\n");
});
