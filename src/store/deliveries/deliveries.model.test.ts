import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { defineCommand } from "../command.js";
import { openStore, type Store } from "../store.js";
import { admitDelivery } from "./admitDelivery.js";
import { applyReceipts } from "./applyReceipts.js";
import { endFarDelivery, recordAcceptances } from "./attemptCommands.js";
import { cancelDelivery } from "./cancelDelivery.js";
import { claimDelivery } from "./claimDelivery.js";
import type { DeliveryDraft } from "./deliveryDraft.js";
import { isDead, isEnded } from "./deliveryState.js";
import { readDeliveryTotals } from "./deliveryTotals.js";
import { endDeliveryByTurn, type TurnEndForDelivery } from "./endDeliveryByTurn.js";
import { listDeliveries } from "./listDeliveries.js";
import { laneHeads, laneOf } from "./outboundDeliveries.js";
import { readDelivery } from "./readDelivery.js";
import { redriveDelivery } from "./redriveDelivery.js";
import { sweepDeliveries } from "./sweepDeliveries.js";
import { makeDraft } from "./testing/makeDraft.js";

const claim = defineCommand({
  name: "test.claim",
  run: (tx, request: Parameters<typeof claimDelivery>[1]) => claimDelivery(tx, request).kind,
});
const end = defineCommand({
  name: "test.end",
  run: (tx, request: Parameters<typeof endDeliveryByTurn>[1]) => endDeliveryByTurn(tx, request),
});

let home: string;
let store: Store;
let round = 0;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "deliveries-"));
  store = await openStore({ database: join(home, "state.db"), lockDatabase: join(home, "lock.db") });
});

afterAll(async () => {
  await store.close();
  rmSync(home, { recursive: true, force: true });
});

function draft(world: string, index: number, far: boolean, now: number): DeliveryDraft {
  return makeDraft({
    deliveryId: `del_${world}_${String(index)}`,
    principalScope: `client:${world}`,
    key: `k${String(index)}`,
    digest: Buffer.alloc(32, index),
    route: far ? "peer_outbound" : "local",
    sender: { kind: "local_agent", id: `agent:${world}`, displayName: world, sentBy: "" },
    replyTo: { kind: "botChat", chat: { agent: world, sessionId: `ses_${world}`, policy: Buffer.of(1) } },
    recipientGateway: far ? `far-${world}` : "",
    recipientAgent: `r-${world}`,
    body: `body ${String(index)}`,
    expiresAt: now + 100,
    ...(far ? {} : { recipientChat: { agent: `r-${world}`, sessionId: `ses_r_${world}`, policy: Buffer.of(1) } }),
    now,
  });
}

const outcome = fc.constantFrom<TurnEndForDelivery["outcome"]>("completed", "failed", "interrupted", "unknown");
const which = fc.nat(5);
const step = fc.oneof(
  fc.record({ do: fc.constant("send" as const), which, far: fc.boolean() }),
  fc.record({ do: fc.constant("claim" as const), which, execution: fc.nat(1) }),
  fc.record({ do: fc.constant("end" as const), which, execution: fc.nat(1), outcome, silent: fc.boolean() }),
  fc.record({ do: fc.constant("cancel" as const), which }),
  fc.record({ do: fc.constant("redrive" as const), which, key: fc.nat(2) }),
  fc.record({ do: fc.constant("accepted" as const), which }),
  fc.record({
    do: fc.constant("receipt" as const),
    which,
    state: fc.constantFrom("queued", "claimed", "replied", "silent", "failed", "expired", "cancelled", "unknown"),
    epoch: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({ do: fc.constant("farEnd" as const), which, end: fc.constantFrom("refused", "expired", "lost") }),
  fc.record({ do: fc.constant("later" as const), by: fc.nat(150) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Walks that are taken every time, whatever is drawn besides: every kind of end, told apart by where the message went. */
const WALKS: readonly (readonly Step[])[] = [
  [
    { do: "send", which: 0, far: false },
    { do: "claim", which: 0, execution: 0 },
    { do: "end", which: 0, execution: 0, outcome: "completed", silent: false },
    { do: "send", which: 1, far: false },
    { do: "cancel", which: 1 },
    { do: "send", which: 2, far: false },
    { do: "claim", which: 2, execution: 0 },
    { do: "end", which: 2, execution: 0, outcome: "failed", silent: false },
    { do: "redrive", which: 2, key: 0 },
    { do: "claim", which: 2, execution: 1 },
    { do: "end", which: 2, execution: 1, outcome: "unknown", silent: false },
  ],
  [
    { do: "send", which: 0, far: true },
    { do: "accepted", which: 0 },
    { do: "farEnd", which: 0, end: "lost" },
    { do: "receipt", which: 0, state: "replied", epoch: 1 },
    { do: "send", which: 1, far: true },
    { do: "farEnd", which: 1, end: "refused" },
    { do: "redrive", which: 1, key: 0 },
    { do: "receipt", which: 1, state: "silent", epoch: 1 },
    { do: "receipt", which: 1, state: "silent", epoch: 2 },
    { do: "send", which: 2, far: true },
    { do: "later", by: 150 },
    { do: "later", by: 500 },
  ],
];

async function take(world: string, now: number, one: Exclude<Step, { do: "later" }>): Promise<void> {
  const deliveryId = `del_${world}_${String(one.which)}`;
  const { writer, reader } = store;
  const delivery = readDelivery(reader, deliveryId);
  const far = delivery?.recipientGateway !== "";
  switch (one.do) {
    case "send":
      await writer.execute(admitDelivery, draft(world, one.which, delivery === undefined ? one.far : far, now));
      return;
    case "claim":
      if (!far) await writer.execute(claim, { deliveryId, executionId: `exe_${String(one.execution)}`, now });
      return;
    case "end":
      if (far) return;
      await writer.execute(end, {
        deliveryId,
        executionId: `exe_${String(one.execution)}`,
        end: { outcome: one.outcome, text: one.silent ? "" : "answer" },
        now,
      });
      return;
    case "cancel":
      await writer.execute(cancelDelivery, { deliveryId, inFlight: false, now });
      return;
    case "redrive":
      await writer.execute(redriveDelivery, {
        deliveryId,
        requestId: `r${String(one.key)}`,
        expiresAt: now + 100,
        ...(far ? {} : { chat: { agent: `r-${world}`, sessionId: `ses_r_${world}`, policy: Buffer.of(1) } }),
        attribution: "",
        now,
      });
      return;
    case "accepted":
      if (far) await writer.execute(recordAcceptances, [{ deliveryId, hop: hop(now), now }]);
      return;
    case "receipt":
      await writer.execute(applyReceipts, {
        gateway: `far-${world}`,
        receipts: [
          {
            deliveryId,
            attemptEpoch: one.epoch,
            state: one.state,
            ...(one.state === "replied" ? { reply: REPLY } : {}),
            hop: hop(now),
          },
        ],
        now,
      });
      if (delivery !== undefined && (!far || delivery.attemptEpoch !== one.epoch)) {
        expect(readDelivery(reader, deliveryId)).toEqual(delivery);
      }
      return;
    case "farEnd":
      if (far) await writer.execute(endFarDelivery, { deliveryId, end: one.end, now });
  }
}

const REPLY = { text: "far answer", truncated: false, sha256: Buffer.alloc(32), codePoints: 10 };
const hop = (now: number) => ({ gateway: "far", acceptedAt: now, attempt: 1, deliveryId: "del_far" });

/** What holds after every step, whatever happened. */
function checkAll(world: string): void {
  const totals = readDeliveryTotals(store.reader);
  expect(Object.values(totals.states).reduce((sum, count) => sum + count, 0)).toBe(totals.accepted);
  const all = listDeliveries(store.reader, { limit: 100, scope: `client:${world}` });
  for (const delivery of all) {
    const { state, body, toldCount, endedAt, senderSessionId, reply } = delivery;
    expect(endedAt !== undefined).toBe(isEnded(state));
    if (isEnded(state) && !isDead(state)) expect(body).toBeUndefined();
    if (!isEnded(state)) expect(body).toBeDefined();
    expect(reply !== undefined).toBe(state === "replied");
    expect(senderSessionId).toBe(`ses_${world}`);
    const told = store.reader.all(
      "SELECT 1 FROM inputs WHERE in_reply_to = ? AND request_id LIKE ?",
      delivery.deliveryId,
      `${delivery.deliveryId}.${String(delivery.attemptEpoch)}.told.%`,
    );
    expect(told).toHaveLength(toldCount);
    // Once for the end; once more where later evidence resolved an unknown one.
    if (!isEnded(state)) expect(toldCount).toBe(0);
    else expect(toldCount === 1 || (toldCount === 2 && state !== "unknown")).toBe(true);
  }
  const waiting = all.filter(({ state, recipientGateway }) => state === "queued" && recipientGateway !== "");
  const heads = laneHeads(store.reader, `far-${world}`, 10).flatMap(({ recipientAgent }) =>
    laneOf(store.reader, `far-${world}`, recipientAgent, 1),
  );
  // The later overwrite the earlier.
  const inOrder = [...waiting].sort((a, b) => b.lanePlace - a.lanePlace);
  const first = new Map(inOrder.map(({ recipientAgent, deliveryId }) => [recipientAgent, deliveryId]));
  expect(new Map(heads.map(({ recipientAgent, deliveryId }) => [recipientAgent, deliveryId]))).toEqual(first);
}

test(
  "whatever happens in whatever order, every delivery ends once an epoch and is told once",
  { timeout: 60_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        round += 1;
        const world = `w${String(round)}`;
        let now = 1_000;
        for (const one of steps) {
          if (one.do === "later") {
            now += one.by;
            await store.writer.execute(sweepDeliveries, { now, deadLetterBodyMs: 400, farGraceMs: 200, inFlight: [] });
          } else await take(world, now, one);
          checkAll(world);
        }
      }),
      { numRuns: 60, examples: WALKS.map((walk) => [[...walk]]) },
    );
  },
);
