import { expect, test } from "vitest";

import type { WaitingMessage } from "../../../store/deliveries/outboundDeliveries.js";
import { SENT_ITEMS, BATCHES, laneShare, lanesOfNext, planSends } from "./planSends.js";

const message = (deliveryId: string, body = "hello", expiresAt = 100): WaitingMessage =>
  ({ deliveryId, body, expiresAt }) as unknown as WaitingMessage;
const lane = (name: string, length: number, body?: string): WaitingMessage[] =>
  Array.from({ length }, (_, index) => message(`${name}${String(index)}`, body));
const idle = { singles: 0, large: 0, batches: 0 };
const ids = (plan: ReturnType<typeof planSends>): string[] =>
  plan.kind === "wait" ? [] : plan.deliveries.map(({ deliveryId }) => deliveryId);

test("a few messages go one by one, the head of each lane", () => {
  const plan = planSends([lane("a", 3), lane("b", 1)], idle, 0);
  expect(plan.kind).toBe("singles");
  expect(ids(plan)).toEqual(["a0", "b0"]);
});

test("a backlog goes in a batch, each lane in its order and none before the others' turn", () => {
  const plan = planSends([lane("a", 10), lane("b", 2)], idle, 0);
  expect(plan.kind).toBe("batch");
  expect(ids(plan).slice(0, 5)).toEqual(["a0", "b0", "a1", "b1", "a2"]);
  expect(ids(planSends([lane("a", 500)], idle, 0))).toEqual(lane("a", SENT_ITEMS).map((one) => one.deliveryId));
});

test("a batch stays far below the message limit, and holds a lane's beginning only", () => {
  const plan = ids(planSends([lane("a", 64, "x".repeat(64_000))], idle, 0));
  expect(plan).toEqual(lane("a", plan.length).map((one) => one.deliveryId));
  expect(plan.length * 64_000).toBeLessThanOrEqual(2 * 1024 * 1024);
});

test("with as many batches on their way as may be, a backlog waits", () => {
  expect(planSends([lane("a", 20)], { ...idle, batches: BATCHES }, 0)).toEqual({ kind: "wait" });
});

test("four large bodies are on their way at once; small ones pass them", () => {
  const large = ["a", "b", "c", "d", "e", "f"].map((name) => lane(name, 1, "x".repeat(16_000)));
  expect(ids(planSends([...large, lane("z", 1)], idle, 0))).toEqual(["a0", "b0", "c0", "d0", "z0"]);
  expect(ids(planSends([...large, lane("z", 1)], { ...idle, singles: 4, large: 4 }, 0))).toEqual(["z0"]);
});

test("what has expired goes alone, and nothing behind it goes before", () => {
  const expired = [message("old", "hello", 1), ...lane("a", 20)];
  const plan = planSends([expired, lane("b", 2)], idle, 50);
  expect(plan.kind).toBe("singles");
  expect(ids(plan)).toEqual(["old", "b0"]);
  expect(ids(planSends([expired, lane("b", 12)], idle, 50))).not.toContain("a0");
});

test("many lanes are shared out among the batches that may be on their way, few are not", () => {
  const lanes = (count: number) => Array.from({ length: count }, (_, index) => lane(`l${String(index)}`, 4));
  expect(lanesOfNext(lanes(99), { batches: 0 })).toHaveLength(33);
  expect(lanesOfNext(lanes(66), { batches: 1 })).toHaveLength(33);
  expect(lanesOfNext(lanes(33), { batches: 2 })).toHaveLength(33);
  expect(lanesOfNext(lanes(1_000), { batches: 0 })).toHaveLength(SENT_ITEMS);
  expect(lanesOfNext(lanes(16), { batches: 0 })).toHaveLength(8);
  expect(lanesOfNext(lanes(15), { batches: 0 })).toHaveLength(15);
  for (const count of [8, 15, 16, 24, 25]) {
    expect(planSends(lanesOfNext(lanes(count), { batches: 0 }), idle, 0).kind).toBe("batch");
  }
  expect(lanesOfNext(lanes(20), { batches: BATCHES })).toHaveLength(20);
});

test("a batch takes long pieces of few lanes, and of a handful all that it has room for", () => {
  expect(laneShare(SENT_ITEMS, 100)).toBe(16);
  expect(laneShare(SENT_ITEMS, 1)).toBe(SENT_ITEMS);
  expect(laneShare(SENT_ITEMS, 5)).toBe(Math.ceil(SENT_ITEMS / 5));
  expect(laneShare(7, 40)).toBe(7);
});
