import fc from "fast-check";
import { expect, test } from "vitest";

import { isDead, isEnded } from "../../src/store/deliveries/deliveryState.js";
import { readDeliveryTotals } from "../../src/store/deliveries/deliveryTotals.js";
import { listDeliveries } from "../../src/store/deliveries/listDeliveries.js";
import type { StoredDelivery } from "../../src/store/deliveries/storedDelivery.js";
import { DEAD_MS, RECIPIENTS, TwoStores } from "./twoStores.js";

const recipient = fc.nat(RECIPIENTS - 1);
const index = fc.nat(7);
const outcome = fc.constantFrom("completed", "failed", "interrupted", "unknown");
const side = fc.constantFrom("north", "south");
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("send" as const), index }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("ship" as const),
      recipient,
      fate: fc.constantFrom("answered", "answered", "unanswered", "lost", "killed"),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("start" as const), recipient, adopted: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("finish" as const), recipient, outcome, silent: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("receipts" as const), arrive: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("repeat" as const), index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("repeatReceipts" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel" as const), index }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("redrive" as const), index }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("failAll" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("kill" as const), side }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("jump" as const), side, by: fc.integer({ min: -700, max: 1_200 }) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const bodyOf = (key: number): string => `marked-${String(key)}-body`;
const endOf = (name: "completed" | "failed" | "interrupted" | "unknown", silent = false) => ({
  outcome: name,
  text: name === "completed" && !silent ? "answer" : "",
});

async function take(world: TwoStores, one: Step): Promise<void> {
  switch (one.do) {
    case "send":
      // The same index again is the same key: a sender that has not heard.
      await world.send(one.index % RECIPIENTS, `k${String(one.index)}`, bodyOf(one.index));
      return;
    case "ship":
      await world.ship(one.recipient, one.fate);
      return;
    case "start":
      await world.start(one.recipient, one.adopted);
      return;
    case "finish":
      await world.finish(one.recipient, endOf(one.outcome, one.silent));
      return;
    case "receipts":
      await world.carryReceipts(one.arrive);
      return;
    case "repeat":
      await world.repeat(one.index);
      return;
    case "repeatReceipts":
      await world.repeatReceipts();
      return;
    case "cancel":
      await world.cancel(`del_k${String(one.index)}`);
      return;
    case "failAll":
      for (let lane = 0; lane < RECIPIENTS; lane++) {
        await world.ship(lane, "answered");
        await world.start(lane);
        await world.finish(lane, endOf("failed"));
      }
      await world.carryReceipts(true);
      return;
    case "redrive":
      await world.redrive(`del_k${String(one.index)}`, `r${String(world.starts.length)}`);
      return;
    case "kill":
      await world.kill(one.side);
      return;
    case "jump":
      world.now[one.side] += one.by;
      await world.sweep();
  }
}

const all = (world: TwoStores, at: "north" | "south"): readonly StoredDelivery[] =>
  listDeliveries(world.at(at).reader, { limit: 200, scope: at === "north" ? "client:x" : "peer:north" });

/** What holds after every step. */
function checkAlways(world: TwoStores, ends: Map<string, string>): void {
  for (const at of ["north", "south"] as const) {
    const { accepted, states } = readDeliveryTotals(world.at(at).reader);
    expect(Object.values(states).reduce((sum, count) => sum + count, 0)).toBe(accepted);
    expect(all(world, at)).toHaveLength(accepted);
  }
  const turns = world.starts.map(({ key, epoch }) => `${key} ${String(epoch)}`);
  expect(new Set(turns).size).toBe(turns.length);
  world.sent.forEach((ids, lane) => {
    const first = world.starts.filter((start) => start.recipient === lane && start.epoch === 1);
    const places = first.map(({ key }) => ids.indexOf(key));
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });
  for (const delivery of all(world, "north")) {
    checkTold(world, delivery);
    const { deliveryId, attemptEpoch, state } = delivery;
    const attempt = `${deliveryId} ${String(attemptEpoch)}`;
    expect([attempt, state]).toEqual([attempt, ends.get(attempt) ?? state]);
    if (isEnded(state) && state !== "unknown") ends.set(attempt, state);
  }
}

/** Once for an end, once more where later evidence resolved an unknown one, and never before. */
function checkTold(world: TwoStores, { deliveryId, attemptEpoch, state, body }: StoredDelivery): void {
  const told = world
    .at("north")
    .reader.all(
      "SELECT 1 FROM inputs WHERE in_reply_to = ? AND request_id LIKE ?",
      deliveryId,
      `${deliveryId}.${String(attemptEpoch)}.told.%`,
    ).length;
  if (!isEnded(state)) expect(told).toBe(0);
  else expect(told === 1 || (told === 2 && state !== "unknown")).toBe(true);
  if (!isEnded(state)) expect(body).toBeDefined();
  if (isEnded(state) && !isDead(state)) expect(body).toBeUndefined();
}

/** Lets everything come to its end: nothing is lost any more and every turn answers. */
async function settle(world: TwoStores): Promise<void> {
  for (let moved = true; moved;) {
    moved = false;
    for (let lane = 0; lane < RECIPIENTS; lane++) {
      await world.finish(lane, endOf("completed"));
      for (; await world.ship(lane, "answered"); moved = true);
      for (; await world.start(lane); moved = true) await world.finish(lane, endOf("completed"));
    }
    for (; (await world.carryReceipts(true)) > 0; moved = true);
    await world.sweep();
  }
}

test(
  "whatever is sent, lost, repeated, reordered, killed and set to another time, every message ends once and is told once",
  { timeout: 120_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 50 }), async (steps) => {
        const world = await TwoStores.open();
        const seen = new Map<string, string>();
        try {
          for (const one of steps) {
            await take(world, one);
            checkAlways(world, seen);
          }
          await settle(world);
          checkAlways(world, seen);
          const left = [...all(world, "north"), ...all(world, "south")].filter(({ state }) => !isEnded(state));
          expect(left).toEqual([]);
          checkAgreed(world);
          checkRemoved(world);
          // The clock may have been set back behind an end.
          const ends = all(world, "north").map(({ endedAt = 0 }) => endedAt);
          world.now.north = Math.max(world.now.north, ...ends) + DEAD_MS + 1;
          await world.sweep();
          expect(world.bytesOf("north")).not.toContain("marked-");
        } finally {
          await world.close();
        }
      }),
      { numRuns: 30 },
    );
  },
);

/** What south knows of a message is what north says of it; what south never had was never delivered. */
function checkAgreed(world: TwoStores): void {
  const there = new Map(all(world, "south").map((delivery) => [delivery.key, delivery]));
  for (const { deliveryId, state, attemptEpoch } of all(world, "north")) {
    const far = there.get(deliveryId);
    // Expired there, it was accepted and never started: a failure of the far side, not ours.
    const said = far?.state === "expired" ? "failed" : far?.state;
    if (far?.attemptEpoch === attemptEpoch) expect([deliveryId, state]).toEqual([deliveryId, said]);
    else if (state === "failed") expect(world.refused).toContain(`${deliveryId} ${String(attemptEpoch)}`);
    else expect(["expired", "cancelled"]).toContain(state);
  }
}

/** A body that was removed is in no file of the home that sent it. */
function checkRemoved(world: TwoStores): void {
  const bytes = world.bytesOf("north");
  for (const { key, body } of all(world, "north")) {
    const marked = bodyOf(Number(key.slice(1)));
    expect([key, bytes.includes(marked)]).toEqual([key, body !== undefined]);
  }
}
