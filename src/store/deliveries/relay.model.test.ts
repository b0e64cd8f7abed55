import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openStore, type Store } from "../store.js";
import { admitDelivery } from "./admitDelivery.js";
import { applyReceipts } from "./applyReceipts.js";
import { recordAcceptances } from "./attemptCommands.js";
import type { DeliveryDraft } from "./deliveryDraft.js";
import { isEnded } from "./deliveryState.js";
import { readDelivery } from "./readDelivery.js";
import { giveUpAtConnector, leaseToConnector, releaseLapsed, returnToLane } from "./relayCommands.js";
import { handedOutTo, relayLaneHeads } from "./relayQueries.js";
import { sweepDeliveries } from "./sweepDeliveries.js";
import { makeDraft } from "./testing/makeDraft.js";

let home: string;
let store: Store;
let round = 0;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "relay-"));
  store = await openStore({ database: join(home, "state.db"), lockDatabase: join(home, "lock.db") });
});

afterAll(async () => {
  await store.close();
  rmSync(home, { recursive: true, force: true });
});

const LIFE = 300;

function draft(connector: string, index: number, now: number): DeliveryDraft {
  return makeDraft({
    deliveryId: `del_${connector}_${String(index)}`,
    principalScope: `client:${connector}`,
    key: `k${String(index)}`,
    digest: Buffer.alloc(32, index),
    route: "relay_outbound",
    sender: { kind: "local_agent", id: `agent:${connector}`, displayName: connector, sentBy: "" },
    replyTo: { kind: "botChat", chat: { agent: connector, sessionId: `ses_${connector}`, policy: Buffer.of(1) } },
    recipientGateway: connector,
    recipientAgent: `r${String(index % 2)}`,
    expiresAt: now + LIFE,
    now,
  });
}

/** A connector's machine as it truly is, with what is on the wire to it. */
interface Machine {
  /** Keys on the wire, in order. */
  readonly wire: string[];
  /** Keys on its disk, in the order of their first acceptance; the value says whether the turn has answered. */
  readonly disk: Map<string, boolean>;
  /** Offers of each key that were not given back. */
  readonly offers: Map<string, number>;
}

const index = fc.nat(3);
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant("send" as const), index }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("lease" as const) }) },
  // What is on the wire arrives, and the acceptance reaches us or not.
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("arrive" as const), heard: fc.boolean(), refused: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("drop" as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("ask" as const), index }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("answer" as const), index, heard: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("later" as const), by: fc.nat(60) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("giveUp" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const REPLY = { text: "answer", truncated: false, sha256: Buffer.alloc(32), codePoints: 6 };
const hop = (now: number) => ({ gateway: "far", acceptedAt: now, attempt: 1, deliveryId: "del_far" });

async function receipt(connector: string, key: string, answered: boolean, now: number): Promise<void> {
  const end = answered ? { state: "replied" as const, reply: REPLY } : { state: "claimed" as const };
  const receipts = [{ deliveryId: key, attemptEpoch: 1, ...end, hop: hop(now) }];
  await store.writer.execute(applyReceipts, { gateway: connector, receipts, now });
}

async function take(connector: string, machine: Machine, now: number, one: Step): Promise<void> {
  const { writer, reader } = store;
  const { wire, disk, offers } = machine;
  const key = "index" in one ? `del_${connector}_${String(one.index)}` : "";
  switch (one.do) {
    case "send":
      await writer.execute(admitDelivery, draft(connector, one.index, now));
      return;
    case "lease": {
      const ready = relayLaneHeads(reader, connector, 10).filter(({ nextAttemptAt = 0 }) => nextAttemptAt <= now);
      const deliveryIds = ready.map(({ deliveryId }) => deliveryId);
      const leased = await writer.execute(leaseToConnector, { connector, deliveryIds, now });
      for (const { deliveryId } of leased) {
        expect(disk.has(deliveryId), "never offered again once it is on a far disk").toBe(false);
        offers.set(deliveryId, (offers.get(deliveryId) ?? 0) + 1);
        wire.push(deliveryId);
      }
      // A second look hands nothing out: each is under its lease.
      expect(await writer.execute(leaseToConnector, { connector, deliveryIds, now })).toEqual([]);
      return;
    }
    case "arrive": {
      const arrived = wire.shift();
      if (arrived === undefined) return;
      if (one.refused && !disk.has(arrived)) {
        if (!one.heard) return;
        const error = { reason: "RECIPIENT_QUOTA", message: "", hint: "", retryable: true };
        const before = readDelivery(reader, arrived);
        await writer.execute(returnToLane, { connector, deliveryId: arrived, error, nextAttemptAt: now + 10, now });
        // It was not in doubt, so it is no offer; and the memory of an offer that was is gone with the error of that one.
        if (before?.state === "queued") offers.set(arrived, 0);
        return;
      }
      if (!disk.has(arrived)) disk.set(arrived, false);
      if (one.heard) await writer.execute(recordAcceptances, [{ deliveryId: arrived, hop: hop(now), now }]);
      return;
    }
    case "drop":
      wire.shift();
      return;
    case "ask": {
      const doubted = handedOutTo(reader, connector);
      const asked = doubted[one.index % Math.max(1, doubted.length)]?.deliveryId;
      if (asked === undefined) return;
      // The question comes behind everything on the wire.
      for (const arrived of wire.splice(0)) if (!disk.has(arrived)) disk.set(arrived, false);
      const answered = disk.get(asked);
      if (answered !== undefined) await receipt(connector, asked, answered, now);
      else await writer.execute(releaseLapsed, { connector, deliveryId: asked, now });
      return;
    }
    case "answer":
      if (!disk.has(key)) return;
      disk.set(key, true);
      if (one.heard) await receipt(connector, key, true, now);
      return;
    case "later":
      await writer.execute(sweepDeliveries, { now, deadLetterBodyMs: 400, farGraceMs: 10_000, inFlight: [] });
      return;
    case "giveUp":
      await writer.execute(giveUpAtConnector, { connector, expiredBefore: now, accepted: true, except: [], now });
  }
}

function check(connector: string, { disk, offers }: Machine): void {
  const places: Record<string, number[]> = {};
  for (const key of disk.keys()) {
    const delivery = readDelivery(store.reader, key);
    if (delivery === undefined) throw new Error(key);
    (places[delivery.recipientAgent] ??= []).push(delivery.lanePlace);
    expect(["expired", "failed"], "nothing that is on a far disk ends as if it were not").not.toContain(delivery.state);
  }
  for (const order of Object.values(places)) expect(order).toEqual([...order].sort((a, b) => a - b));
  for (let at = 0; at <= 3; at++) {
    const delivery = readDelivery(store.reader, `del_${connector}_${String(at)}`);
    if (delivery === undefined) continue;
    const { state, toldCount, body, deliveryId } = delivery;
    expect(offers.get(deliveryId) ?? 0, "offered once, and again once").toBeLessThanOrEqual(2);
    if (state === "unknown" || state === "replied") expect(offers.has(deliveryId)).toBe(true);
    if (!isEnded(state)) expect([toldCount, body]).toEqual([0, "body"]);
    else expect(toldCount === 1 || (toldCount === 2 && state === "replied")).toBe(true);
  }
}

test(
  "whatever is lost, late or repeated, a message is offered twice at most, accepted once, in order, and told once",
  { timeout: 60_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        round += 1;
        const connector = `c${String(round)}`;
        const machine: Machine = { wire: [], disk: new Map(), offers: new Map() };
        let now = 1_000;
        for (const one of steps) {
          if (one.do === "later") now += one.by;
          await take(connector, machine, now, one);
          check(connector, machine);
        }
        // However it stands: once everything is late, everything has ended.
        now += 10 * LIFE;
        await take(connector, machine, now, { do: "giveUp" });
        await take(connector, machine, now, { do: "later", by: 0 });
        check(connector, machine);
        const open = store.reader.all(
          "SELECT state FROM deliveries WHERE recipient_gateway = ? AND ended_at IS NULL",
          connector,
        );
        expect(open).toEqual([]);
      }),
      { numRuns: 250 },
    );
  },
);
