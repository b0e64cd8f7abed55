import { expect, test } from "vitest";

import { FakeClock } from "../../base/testing/fakeClock.js";
import { Policy } from "../../gen/talaria/types/v1/policy.js";
import type { Launch } from "../launch/launch.js";
import { GroupLooks } from "./groupLooks.js";

test("heartbeats that come on the heels of one another are one look", () => {
  const clock = new FakeClock(0);
  let looks = 0;
  const launch = { group: { id: 1, note: () => (looks += 1) } } as unknown as Launch;
  const group = new GroupLooks(clock, 5_000, { policy: Policy.encode(Policy.create()).finish() });
  expect(group.look(undefined)).toBe(false);
  for (const [advance, seen] of [
    [0, 1],
    [4_999, 1],
    [1, 2],
    [10, 2],
    [10_000, 3],
  ] as const) {
    clock.advance(advance);
    expect(group.look(launch)).toBe(false);
    expect(looks).toBe(seen);
  }
});
