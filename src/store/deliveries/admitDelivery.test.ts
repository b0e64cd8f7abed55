import { expect, test } from "vitest";

import type { Store } from "../store.js";
import { useStore } from "../testing/useStore.js";
import { admitDeliveries } from "./admitDelivery.js";
import { makeDraft } from "./testing/makeDraft.js";

let store: Store;
useStore((opened) => {
  store = opened;
});

const BOUNDS = { ...makeDraft(draftFacts("x", 0)).bounds, queuedPerRecipientAndSender: 4, queuedPerRecipient: 7 };

function draftFacts(sender: string, index: number) {
  return {
    deliveryId: `del_${sender}_${String(index).padStart(2, "0")}`,
    route: "peer_outbound" as const,
    sender: { kind: "local_agent" as const, id: `agent:${sender}`, displayName: sender, sentBy: "" },
    recipientGateway: "far",
    recipientAgent: "r",
    expiresAt: 1_000,
    now: 1,
  };
}

/** Admits so many messages of each sender in one command, in turn. @returns what became of each, by its sender */
async function admit(from: number, counts: Readonly<Record<string, number>>): Promise<string[]> {
  const longest = Math.max(...Object.values(counts));
  const drafts = Array.from({ length: longest }, (_, index) =>
    Object.entries(counts).flatMap(([sender, count]) =>
      index < count ? [makeDraft({ ...draftFacts(sender, from + index), bounds: BOUNDS })] : [],
    ),
  ).flat();
  const admissions = await store.writer.execute(admitDeliveries, drafts);
  return admissions.map((admission, place) => {
    const what = admission.kind === "refused" ? admission.reason : admission.kind;
    return `${drafts[place]?.sender.displayName ?? ""} ${what}`;
  });
}

test("what a batch itself admits counts for its quotas, for the sender as for the recipient", async () => {
  expect(await admit(0, { ada: 3, bob: 1 })).toEqual(["ada accepted", "bob accepted", "ada accepted", "ada accepted"]);
  // From four waiting messages on, each sender's share is counted.
  expect(await admit(3, { ada: 3 })).toEqual(["ada accepted", "ada SENDER_QUOTA", "ada heldBack"]);
  expect(await admit(9, { bob: 2, carl: 1 })).toEqual(["bob accepted", "carl accepted", "bob RECIPIENT_QUOTA"]);
});

test("a loop guard that tripped before the clock was set back holds nobody, and what was sent then counts for nothing", async () => {
  const bounds = { ...BOUNDS, queuedPerRecipientAndSender: 99, queuedPerRecipient: 99, loopMessages: 2 };
  const send = async (index: number, now: number): Promise<string> => {
    const facts = { ...draftFacts("ada", index), startedBy: "agent:far/r", bounds, now, expiresAt: now + 1_000 };
    const [admission] = await store.writer.execute(admitDeliveries, [makeDraft(facts)]);
    return admission?.kind === "refused" ? admission.reason : (admission?.kind ?? "none");
  };
  const day = 86_400_000;
  expect([await send(1, day), await send(2, day), await send(3, day)]).toEqual(["accepted", "accepted", "LOOP_GUARD"]);
  expect([await send(4, 1), await send(5, 2), await send(6, 3)]).toEqual(["accepted", "accepted", "LOOP_GUARD"]);
});
