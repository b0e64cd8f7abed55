import { expect, test } from "vitest";

import { noticeText } from "./noticeText.js";
import type { StoredDelivery } from "./storedDelivery.js";

const notice = (more: Partial<StoredDelivery>): string =>
  noticeText({ deliveryId: "del_1", reply: undefined, failure: undefined, ...more } as StoredDelivery, "bob");

test("DM112 an unknown outcome is not told as a failure, and not to be sent again", () => {
  const text = notice({ state: "unknown" });
  expect(text).toContain("not known whether your message to @bob (del_1)");
  expect(text).toContain("do not send it again");
  expect(text).not.toMatch(/fail|not delivered/i);
});

test("DM112 what was never started is told as not delivered", () => {
  const failure = { reason: "TURN_FAILED", message: "The turn failed.", hint: "Look." } as unknown as NonNullable<
    StoredDelivery["failure"]
  >;
  expect(notice({ state: "failed", failure })).toBe(
    "Your message to @bob (del_1) was not delivered. The turn failed. [TURN_FAILED] Look.",
  );
  expect(notice({ state: "expired" })).toContain("was not delivered");
  expect(notice({ state: "queued" })).toBe("");
});

test("DM-R04 a reply that was cut says so, with the size of the whole", () => {
  const reply = { text: "start", truncated: true, sha256: new Uint8Array(32), codePoints: 40_000 };
  expect(notice({ state: "replied", reply })).toMatch(/^start\n\[Only the first part of 40000 code points/);
});
