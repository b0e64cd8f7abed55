import { expect, test } from "vitest";

import { SessionUpdate } from "../gen/talaria/gateway/v1/turn_service.js";
import { DeltaChannel } from "../gen/talaria/types/v1/event.js";
import { mayRepeat } from "./idempotency.js";
import { createTurnReader } from "./turnSteps.js";

const text = (piece: string, channel: DeltaChannel = DeltaChannel.DELTA_CHANNEL_ANSWER) =>
  SessionUpdate.fromPartial({
    update: {
      $case: "events",
      value: { executionId: "exe", events: [{ event: { $case: "delta", value: { text: piece, channel } } }] },
    },
  });

test("over a break each piece of the answer comes once, though the text so far is told again", () => {
  const reader = createTurnReader();
  const pieces = (update: SessionUpdate) =>
    reader.read(update).map((step) => (step.kind === "text" ? step.text : step.kind));
  expect(pieces(text("Hel"))).toEqual(["Hel"]);
  expect(pieces(text("lo"))).toEqual(["lo"]);
  reader.reopened();
  expect(pieces(text("Hello, wor"))).toEqual([", wor"]);
  expect(pieces(text("ld"))).toEqual(["ld"]);
  reader.reopened();
  expect(pieces(text("Hello"))).toEqual([]);
  expect(pieces(text(", world"))).toEqual([]);
  expect(pieces(text("!"))).toEqual(["!"]);
});

test("reasoning is kept apart", () => {
  const steps = createTurnReader().read(text("hm", DeltaChannel.DELTA_CHANNEL_REASONING));
  expect(steps).toEqual([{ kind: "reasoning", text: "hm" }]);
});

test("what the contract calls idempotent may be repeated, and what it does not may not", () => {
  expect(mayRepeat("/talaria.gateway.v1.TurnService/RunTurn")).toBe(true);
  expect(mayRepeat("/talaria.gateway.v1.AdminService/GetStatus")).toBe(true);
  expect(mayRepeat("/talaria.gateway.v1.AdminService/CreateInvite")).toBe(false);
  expect(mayRepeat("/talaria.gateway.v1.AdminService/Nothing")).toBe(false);
});
