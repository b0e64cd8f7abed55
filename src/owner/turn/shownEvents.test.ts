import { expect, test } from "vitest";

import { SecretRegistry } from "../../base/secretRegistry.js";
import type { TurnEvent } from "../../gen/talaria/types/v1/event.js";
import { ToolCompleted, ToolStarted } from "../../gen/talaria/types/v1/event.js";
import { shownEvents } from "./shownEvents.js";

const secrets = new SecretRegistry();
secrets.add("the-launch-secret");

const delta: TurnEvent = { event: { $case: "delta", value: { text: "the-launch-secret", channel: 0 } } };

test("a batch of text passes as it is", () => {
  const events = [delta];
  expect(shownEvents(events, secrets)).toBe(events);
});

test("OW46 a tool's arguments and result are shown without secrets, field for field", () => {
  const started = ToolStarted.fromPartial({
    toolCallId: "1",
    name: "curl",
    arguments: { header: "Bearer abcdef123456", nested: [{ deep: "x the-launch-secret y" }], count: 3 },
  });
  const completed = ToolCompleted.fromPartial({
    toolCallId: "1",
    name: "curl",
    result: "API_KEY=hunter2",
    durationMs: 5n,
  });
  const [text, begun, done] = shownEvents(
    [
      delta,
      { event: { $case: "toolStarted", value: started } },
      { event: { $case: "toolCompleted", value: completed } },
    ],
    secrets,
  );
  expect(text).toBe(delta);
  expect(begun?.event?.value).toEqual({
    ...started,
    arguments: { header: "Bearer [redacted]", nested: [{ deep: "x [redacted] y" }], count: 3 },
  });
  expect(done?.event?.value).toEqual({ ...completed, result: "API_KEY=[redacted]" });
});

test("OW48 arguments and results over their bounds are cut and say so", () => {
  const started = ToolStarted.fromPartial({ name: "write", arguments: { path: "/a", content: "x".repeat(1_000_000) } });
  const [begun] = shownEvents([{ event: { $case: "toolStarted", value: started } }], secrets);
  const value = begun?.event?.value as ToolStarted;
  expect(value.truncated).toBe(true);
  expect(value.arguments?.["path"]).toBe("/a");
  expect(JSON.stringify(value.arguments).length).toBeLessThan(100_000);
  const completed = ToolCompleted.fromPartial({ name: "write", result: "y".repeat(1_000_000), isError: true });
  const [over] = shownEvents([{ event: { $case: "toolCompleted", value: completed } }], secrets);
  const end = over?.event?.value as ToolCompleted;
  expect([end.truncated, end.isError]).toEqual([true, true]);
  expect(end.result.length).toBeLessThan(100_000);
  expect(end.result).toMatch(/^y+/);
});
