import { expect, test } from "vitest";

import { FakeClock } from "../../base/testing/fakeClock.js";
import { toTimestamp } from "../../rpc/wire/times.js";
import type { PeerEntry } from "../ports/directory.js";
import { CLOCK_KEPT_MS, createPeerClocks } from "./peerClocks.js";

const south: PeerEntry = { name: "south", address: "s:1", pin: "" };

function open() {
  const clock = new FakeClock();
  const peers = new Map([["south", south]]);
  return { clock, peers, clocks: createPeerClocks(peers, clock) };
}

test("a peer's clock is known for a day after it was last told, and its age is not the wall clock's", () => {
  const { clock, clocks } = open();
  expect(clocks.get("south")).toBeUndefined();
  const asked = { wall: clock.now(), at: clock.monotonic() };
  clock.advance(40);
  clocks.heard("south", toTimestamp(clock.now() + 7_200_000), asked.at);
  expect(clocks.get("south")).toEqual({ aheadMs: 7_200_020, errorMs: 20, readAt: asked.wall });
  clock.jumpWallTime(-3 * CLOCK_KEPT_MS);
  clock.advance(CLOCK_KEPT_MS);
  expect(clocks.get("south")).toBeDefined();
  clock.advance(1);
  expect(clocks.get("south")).toBeUndefined();
});

test("a wall clock that is set between question and answer does not widen the way", () => {
  const { clock, clocks } = open();
  const askedAt = clock.monotonic();
  clock.jumpWallTime(500_000);
  clock.advance(10);
  clocks.heard("south", toTimestamp(clock.now()), askedAt);
  expect(clocks.get("south")).toMatchObject({ aheadMs: 5, errorMs: 5 });
});

test("a peer that tells no time, or one that is none, changes nothing of what is known", () => {
  const { clock, clocks } = open();
  clocks.heard("south", toTimestamp(clock.now() + 1_000), clock.monotonic());
  clocks.heard("south", undefined, clock.monotonic());
  clocks.heard("south", { seconds: 2n ** 62n, nanos: 0 }, clock.monotonic());
  expect(clocks.get("south")?.aheadMs).toBe(1_000);
});

test("what is a peer no more has no clock", () => {
  const { clock, peers, clocks } = open();
  clocks.heard("south", toTimestamp(clock.now()), clock.monotonic());
  peers.delete("south");
  expect(clocks.get("south")).toBeUndefined();
});
