import { expect, test } from "vitest";

import { FakeClock } from "../../base/testing/fakeClock.js";
import { TurnPhase } from "../../gen/talaria/gateway/v1/turn_service.js";
import type { SessionChange } from "../watch/sessionHub.js";
import { PhaseTrack } from "./phaseTrack.js";

function tracked() {
  const clock = new FakeClock();
  const told: SessionChange[] = [];
  const hub = { publish: (_: string, change: SessionChange) => void told.push(change) };
  const track = new PhaseTrack({ clock, hub }, "exe_1", {
    input: { session_id: "ses_1", queued_at: 1_000, started_at: 1_500 },
  });
  const phases = () => told.map((one) => (one.$case === "phaseChanged" ? one.value.phase : one.$case));
  return { clock, track, phases };
}

const outOfPhase = expect.objectContaining({ reason: "FRAME_OUT_OF_PHASE" }) as Error;

test("viewers are told of phases that they can tell apart, and not of those of another worker's start or of an end", () => {
  const { track, phases } = tracked();
  track.move("prove", "hello");
  track.move("exercise", "dry_run");
  track.move("bootstrap", "bootstrap");
  track.restart();
  track.move("prove", "hello");
  track.end("lost");
  expect(track.phase).toBe("lost");
  const { TURN_PHASE_PROVED, TURN_PHASE_BOOTSTRAPPED } = TurnPhase;
  expect(phases()).toEqual([TURN_PHASE_PROVED, TURN_PHASE_BOOTSTRAPPED, TURN_PHASE_PROVED]);
});

test("an event and a frame out of their phase are refused and change nothing", () => {
  const { track, phases } = tracked();
  expect(() => track.move("ready", "ready")).toThrow(outOfPhase);
  expect(() => {
    track.admit("events");
  }).toThrow(outOfPhase);
  expect(track.phase).toBe("spawned");
  expect(phases()).toEqual([]);
});

test("an assignment is adopted again up to its result, which leaves it as it is, and not after the end", () => {
  const { track } = tracked();
  for (const event of ["prove", "bootstrap"] as const) track.move(event, event);
  track.adopt();
  track.adopt();
  expect(track.phase).toBe("adopted");
  for (const event of ["ready", "result", "finish"] as const) {
    track.move(event, event);
    const { phase } = track;
    track.adopt();
    expect(track.phase).toBe(phase);
  }
  track.move("leave", "exit");
  expect(() => {
    track.adopt();
  }).toThrow(expect.objectContaining({ reason: "EXECUTION_ENDED" }) as Error);
});

test("its times are those of its phases, a second start and the end included", () => {
  const { clock, track } = tracked();
  clock.advance(10);
  track.move("prove", "hello");
  clock.advance(20);
  track.restart();
  clock.advance(30);
  track.end("interrupted");
  clock.advance(40);
  expect(Object.fromEntries(track.times())).toEqual({ queued: 500, launch: 40, adopt: 20, settle: 40 });
});
