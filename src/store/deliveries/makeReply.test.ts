import { createHash } from "node:crypto";
import { expect, test } from "vitest";

import { makeReply } from "./makeReply.js";

test("DM-R04 an answer up to the limit is whole", () => {
  const answer = "😀".repeat(18_000);
  expect(makeReply(answer)).toMatchObject({ text: answer, truncated: false, codePoints: 18_000 });
});

test("DM-R04 a longer one is cut between characters, and its digest and size are those of the whole", () => {
  const answer = "😀".repeat(18_001);
  const reply = makeReply(answer);
  expect(reply).toMatchObject({ text: "😀".repeat(18_000), truncated: true, codePoints: 18_001 });
  expect(Buffer.from(reply.sha256)).toEqual(createHash("sha256").update(answer).digest());
});
