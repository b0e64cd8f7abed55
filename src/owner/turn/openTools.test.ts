import { expect, test } from "vitest";

import { TurnEvent } from "../../gen/talaria/types/v1/event.js";
import { OpenTools } from "./openTools.js";

const started = (toolCallId: string, name = "tool"): TurnEvent =>
  TurnEvent.fromPartial({ event: { $case: "toolStarted", value: { toolCallId, name } } });
const completed = (toolCallId: string, name = "tool"): TurnEvent =>
  TurnEvent.fromPartial({ event: { $case: "toolCompleted", value: { toolCallId, name } } });
const broken = expect.objectContaining({ reason: "FRAME_INVALID" }) as Error;

test("calls are open from their beginning to their end, also two under one id, and an end without a beginning is none", () => {
  const tools = new OpenTools();
  tools.add([started("a"), started("a"), started(""), completed("other")]);
  expect(tools.count).toBe(3);
  tools.add([completed("a"), completed("")]);
  expect(tools.count).toBe(1);
  tools.add([completed("a")]);
  expect(tools.count).toBe(0);
});

test.each([
  ["a call's id", started("i".repeat(257))],
  ["a call's name", started("a", "n".repeat(257))],
  ["an ended call's id", completed("i".repeat(257))],
  ["an ended call's name", completed("a", "n".repeat(257))],
])("%s over its bound breaks the contract", (_, event) => {
  expect(() => {
    new OpenTools().add([event]);
  }).toThrow(broken);
});

test("a worker that begins calls without end breaks the contract, before they fill the owner's memory", () => {
  const tools = new OpenTools();
  for (let call = 0; call < 4_096; call += 1) tools.add([started(`call ${String(call)}`)]);
  expect(() => {
    tools.add([started("one more")]);
  }).toThrow(broken);
});
