import { expect, test } from "vitest";

import { DELIVERY_EVENTS, nextDeliveryState, type DeliveryEvent } from "./deliveryMachine.js";
import { DELIVERY_STATES, isDead, isEnded, type DeliveryState } from "./deliveryState.js";

/** Every pair that may happen; all others must not. Source: DESIGN section 5. */
const TABLE: Readonly<Record<DeliveryState, Partial<Record<DeliveryEvent, DeliveryState>>>> = {
  queued: { claim: "claimed", cancel: "cancelled", expire: "expired", fail: "failed" },
  claimed: {
    reply: "replied",
    silence: "silent",
    fail: "failed",
    lose: "unknown",
    cancel: "cancelled",
    requeue: "queued",
  },
  replied: {},
  silent: {},
  failed: { redrive: "queued" },
  expired: { redrive: "queued" },
  cancelled: {},
  unknown: { reply: "replied", silence: "silent", fail: "failed", cancel: "cancelled" },
};

test.each(DELIVERY_STATES.flatMap((state) => DELIVERY_EVENTS.map((event) => ({ state, event }))))(
  "$event while $state",
  ({ state, event }) => {
    expect(nextDeliveryState(state, event)).toBe(TABLE[state][event]);
  },
);

test("DM059 DM085 an end is left by a redrive of a dead letter only, and an unknown one by evidence once", () => {
  for (const state of DELIVERY_STATES.filter(isEnded)) {
    for (const event of DELIVERY_EVENTS) {
      const next = nextDeliveryState(state, event);
      if (next === undefined) continue;
      if (state === "unknown") expect(isEnded(next) && next !== "unknown").toBe(true);
      else expect({ dead: isDead(state), event, next }).toEqual({ dead: true, event: "redrive", next: "queued" });
    }
  }
});
