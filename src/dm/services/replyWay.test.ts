import { expect, test } from "vitest";

import { replyWay } from "./replyWay.js";

const sent = { senderSessionId: "ses_1", toldAt: undefined };

test("DM041 a session that gets its end as an input is told not to wait", () => {
  expect(replyWay({ delivery: sent, sessionId: "ses_1", takesInputs: true })).toBe("notification");
});

test.each([
  ["does not take inputs", sent, "ses_1", false],
  ["is not the one that sent the message first", sent, "ses_2", true],
  ["has been told of its end before", { ...sent, toldAt: 1 }, "ses_1", true],
  ["nobody is told of", { ...sent, senderSessionId: undefined }, "ses_1", true],
] as const)("DM041 a session that %s is told to look", (_, delivery, sessionId, takesInputs) => {
  expect(replyWay({ delivery, sessionId, takesInputs })).toBe("poll");
});
