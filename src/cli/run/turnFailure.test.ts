import { expect, test } from "vitest";

import { Turn } from "../../gen/talaria/gateway/v1/turn_service.js";
import { reasons, type Reason } from "../../rpc/reasons.js";
import { failureClass, spanText, turnFailure } from "./turnFailure.js";

test("a quota wall says its class, when it resets and where billing is settled", () => {
  const turn = Turn.fromPartial({
    sessionId: "ses_1",
    executionId: "exe_1",
    failure: {
      reason: reasons.PROVIDER_QUOTA.number,
      message: "The month is used up.",
      hint: "Wait.",
      resetsAt: { seconds: 90_061n, nanos: 0 },
    },
    result: { billingBlock: { billingUrl: "https://pay.example/", providerLabel: "Example", model: "m" } },
  });
  const error = turnFailure(turn, 0);
  expect(error).toMatchObject({ reason: "PROVIDER_QUOTA", message: "The month is used up.", hint: "Wait." });
  expect(error.facts).toMatchObject({
    class: "quota wall",
    billing: "https://pay.example/",
    provider: "Example",
    session: "ses_1",
  });
  expect(error.facts["resets"]).toContain("1970-01-02T01:01:01.000Z, in 1 d 1 h");
  expect(turnFailure(turn, 100_000_000).facts["resets"]).toContain("which is past");
});

test("a turn without a failure is still an error, and a foreign reason keeps its spelling", () => {
  expect(turnFailure(Turn.fromPartial({}), 0)).toMatchObject({ reason: "UNKNOWN_ERROR", facts: { class: "unknown" } });
  const foreign = Turn.fromPartial({ failure: { reason: 9_998 as never, foreignReason: "TOO_WARM", message: "m" } });
  expect(turnFailure(foreign, 0)).toMatchObject({ reason: "UNKNOWN_ERROR", foreignReason: "TOO_WARM" });
});

test("every reason has a class", () => {
  for (const reason of Object.keys(reasons) as Reason[]) expect(failureClass(reason)).not.toBe("");
});

test.each([
  [0.2, "1 s"],
  [59, "59 s"],
  [3_600, "1 h"],
  [3_725, "1 h 2 min"],
  [200_000, "2 d 7 h"],
])("%d seconds are %s", (seconds, text) => {
  expect(spanText(seconds)).toBe(text);
});
