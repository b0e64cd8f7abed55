import fc from "fast-check";
import { expect, test } from "vitest";

import { FakeClock } from "../../base/testing/fakeClock.js";
import { type SessionUpdate, Turn } from "../../gen/talaria/gateway/v1/turn_service.js";
import { DeltaChannel, type TurnEvent } from "../../gen/talaria/types/v1/event.js";
import { Prompt } from "../../gen/talaria/types/v1/prompt.js";
import { joinEvents } from "./joinEvents.js";
import { RunningText } from "./runningText.js";
import { type SessionChange, SessionHub } from "./sessionHub.js";
import { Watcher } from "./watcher.js";

const { DELTA_CHANNEL_ANSWER, DELTA_CHANNEL_REASONING } = DeltaChannel;
const delta = (text: string, channel: DeltaChannel = DELTA_CHANNEL_ANSWER): TurnEvent => ({
  event: { $case: "delta", value: { text, channel } },
});
const events = (text: string, executionId = "exe"): SessionChange => ({
  $case: "events",
  value: { executionId, events: [delta(text)] },
});
const mark = (executionId: string): SessionChange => ({ $case: "phaseChanged", value: { executionId, phase: 7 } });
const turnEnded: SessionChange = { $case: "turnEnded", value: { turn: undefined } };
const hubOf = (keep: number): SessionHub => new SessionHub(3, new FakeClock(), keep);
const sequences = (updates: readonly SessionUpdate[]): readonly (bigint | undefined)[] =>
  updates.map(({ cursor }) => cursor?.sequence);
const never = new AbortController().signal;

test("A2-1 a watch that comes back with a cursor gets what came after it, or a gap", () => {
  const hub = hubOf(100);
  for (const name of ["1", "2", "3", "4"]) hub.publish("s", mark(name));
  const resumed = hub.open("s", new Watcher(false), { epoch: 3n, sequence: 2n });
  expect(resumed.kind === "resume" && sequences(resumed.missed)).toEqual([3n, 4n]);
  expect(hub.open("s", new Watcher(false), { epoch: 3n, sequence: 4n })).toEqual({ kind: "resume", missed: [] });
  for (const cursor of [
    { epoch: 2n, sequence: 2n },
    { epoch: 4n, sequence: 2n },
    { epoch: 3n, sequence: 5n },
  ]) {
    expect(hub.open("s", new Watcher(false), cursor)).toMatchObject({ kind: "snapshot", gap: true });
  }
  expect(hub.open("s", new Watcher(false), undefined)).toMatchObject({ kind: "snapshot", gap: false });
});

test("A2-1 in any history a cursor gives exactly what was missed, or a gap where some of it is not kept", () => {
  const change = fc.constantFrom<"events" | "mark" | "end">("events", "mark", "mark", "end");
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 60, size: "max" }),
      fc.integer({ min: 1, max: 20 }),
      fc.nat(70),
      (history, keep, at) => {
        const hub = hubOf(keep);
        const kept: { readonly sequence: bigint; readonly kind: string; dropped: boolean }[] = [];
        history.forEach((kind, index) => {
          hub.publish("s", kind === "events" ? events("x") : kind === "mark" ? mark("m") : turnEnded);
          kept.push({ sequence: BigInt(index + 1), kind, dropped: false });
          if (kind === "end") for (const one of kept) if (one.kind === "events") one.dropped = true;
        });
        const start = hub.open("s", new Watcher(false), { epoch: 3n, sequence: BigInt(at) });
        const after = kept.filter(({ sequence }) => sequence > BigInt(at));
        if (start.kind === "resume") {
          expect(at).toBeLessThanOrEqual(history.length);
          expect(sequences(start.missed)).toEqual(after.map(({ sequence }) => sequence));
        } else {
          const beyond = at > history.length;
          const lost = after.some(({ dropped }) => dropped);
          const cut = after.length > keep;
          // A gap is told only where there is one, give or take the steps in which the log is cut.
          expect(beyond || lost || cut || after.length + at > keep).toBe(true);
        }
      },
    ),
  );
});

test("a slow viewer is told of a gap, and costs the others nothing", async () => {
  const hub = hubOf(10_000);
  const [slow, quick] = [new Watcher(false), new Watcher(false)];
  hub.open("s", slow, undefined);
  hub.open("s", quick, undefined);
  for (let count = 0; count < 1_100; count += 1) {
    hub.publish("s", mark(String(count)));
    expect(await quick.next(never)).toMatchObject({ kind: "update" });
  }
  expect(await slow.next(never)).toEqual({ kind: "overrun" });
  hub.publish("s", mark("after"));
  expect(await slow.next(never)).toMatchObject({ kind: "update", update: { cursor: { sequence: 1_101n } } });
});

test("text that waits for a viewer is joined, and too much of it is a gap", async () => {
  const watcher = new Watcher(false);
  const hub = hubOf(10_000);
  hub.open("s", watcher, undefined);
  for (const text of ["a", "b", "c"]) hub.publish("s", events(text));
  const step = await watcher.next(never);
  expect(step).toMatchObject({
    update: { cursor: { sequence: 3n }, update: { value: { events: [delta("abc")] } } },
  });
  for (let count = 0; count < 20; count += 1) hub.publish("s", events("x".repeat(60_000)));
  expect(await watcher.next(never)).toEqual({ kind: "overrun" });
});

test("A2-1 what a turn floods is kept up to a bound of its text, and a cursor before that is a gap", () => {
  const hub = hubOf(10_000);
  const before = hub.cursorOf("s");
  for (let count = 0; count < 200; count += 1) hub.publish("s", events("x".repeat(100_000)));
  expect(hub.open("s", new Watcher(false), before)).toMatchObject({ kind: "snapshot", gap: true });
  const late = { epoch: 3n, sequence: 180n };
  const start = hub.open("s", new Watcher(false), late);
  expect(start.kind === "resume" && start.missed).toHaveLength(20);
  const oldest = start.kind === "snapshot" ? undefined : hub.open("s", new Watcher(false), { epoch: 3n, sequence: 1n });
  expect(oldest?.kind === "snapshot" && Number(oldest.oldest)).toBeGreaterThan(140);
  hub.publish("s", turnEnded);
  hub.publish("s", mark("m"));
  const after = hub.open("s", new Watcher(false), { epoch: 3n, sequence: 200n });
  expect(after.kind === "resume" && sequences(after.missed)).toEqual([201n, 202n]);
});

test("results of tools weigh as much as text that waits for a viewer", async () => {
  const watcher = new Watcher(false);
  const hub = hubOf(10_000);
  hub.open("s", watcher, undefined);
  const result = "r".repeat(60_000);
  const value = { toolCallId: "c", name: "t", result, isError: false, truncated: false, durationMs: 0n };
  const completed = { event: { $case: "toolCompleted", value } } as const;
  for (let count = 0; count < 20; count += 1) {
    hub.publish("s", { $case: "events", value: { executionId: "exe", events: [completed] } });
  }
  expect(await watcher.next(never)).toEqual({ kind: "overrun" });
});

test("in any order of pushes and reads a viewer sees every change in order, or a gap", async () => {
  const step = fc.constantFrom<"events" | "mark" | "read">("events", "mark", "read", "read");
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), async (steps) => {
      const hub = hubOf(10_000);
      const watcher = new Watcher(false);
      hub.open("s", watcher, undefined);
      let told = "";
      let seen = "";
      let text = 0;
      const read = async (): Promise<void> => {
        const next = await watcher.next(AbortSignal.timeout(1_000));
        if (next?.kind !== "update") throw new Error("no update");
        const { update } = next.update;
        if (update?.$case === "events") {
          for (const { event } of update.value.events) if (event?.$case === "delta") seen += event.value.text;
        } else seen += "|";
      };
      for (const kind of steps) {
        if (kind === "events") {
          const letter = String.fromCharCode(97 + (text++ % 26));
          told += letter;
          hub.publish("s", events(letter));
        } else if (kind === "mark") {
          told += "|";
          hub.publish("s", mark("m"));
        } else if (seen.length < told.length) {
          await read();
        }
      }
      while (seen.length < told.length) await read();
      expect(seen).toBe(told);
    }),
    { numRuns: 100 },
  );
});

test("a viewer that leaves stops waiting, and one whose session is gone gets what is left", async () => {
  const hub = hubOf(10);
  const watcher = new Watcher(true);
  hub.open("s", watcher, undefined);
  expect(hub.hasAnswerer("s")).toBe(true);
  hub.publish("s", mark("last"));
  hub.drop("s");
  expect(await watcher.next(never)).toMatchObject({ kind: "update" });
  expect(await watcher.next(never)).toBeUndefined();
  expect(hub.hasAnswerer("s")).toBe(false);
  const leaving = new AbortController();
  const other = new Watcher(false);
  const waited = other.next(leaving.signal);
  leaving.abort(new Error("left"));
  await expect(waited).rejects.toThrow("left");
});

test("deltas are joined within their channel only, and the running text leaves reasoning out", () => {
  const joined: TurnEvent[] = [];
  joinEvents(joined, [delta("a"), delta("b"), delta("c", DELTA_CHANNEL_REASONING), delta("d")]);
  expect(joined).toEqual([delta("ab"), delta("c", DELTA_CHANNEL_REASONING), delta("d")]);
  const text = new RunningText();
  text.add(joined);
  expect(text.text).toBe("abd");
});

test("what prompts and long answers take is bounded like what is streamed; one long answer is no reason for a gap", async () => {
  const hub = hubOf(10_000);
  const slow = new Watcher(false);
  hub.open("s", slow, undefined);
  const raised = (): SessionChange => ({
    $case: "promptRaised",
    value: Prompt.fromPartial({ request: { $case: "approval", value: { command: "c".repeat(16_384) } } }),
  });
  for (let count = 0; count < 1_000; count += 1) hub.publish("s", raised());
  expect(await slow.next(never)).toEqual({ kind: "overrun" });
  const resumed = hub.open("s", new Watcher(false), { epoch: 3n, sequence: 900n });
  expect(resumed.kind === "resume" && resumed.missed.length).toBe(100);
  expect(hub.open("s", new Watcher(false), { epoch: 3n, sequence: 500n })).toMatchObject({
    kind: "snapshot",
    gap: true,
  });
  const watcher = new Watcher(false);
  hub.open("s", watcher, undefined);
  const turn = Turn.fromPartial({ result: { finalResponse: "a".repeat(1_048_576) } });
  hub.publish("s", { $case: "turnEnded", value: { turn } });
  expect(await watcher.next(never)).toMatchObject({ kind: "update" });
});
