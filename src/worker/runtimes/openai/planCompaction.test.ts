import { expect, test } from "vitest";

import { ConversationMessage, MessageRole } from "../../../gen/talaria/types/v1/conversation.js";
import { planCompaction } from "./planCompaction.js";

const rows = (...sizes: number[]): ConversationMessage[] =>
  sizes.map((size, index) =>
    ConversationMessage.fromPartial({
      row: BigInt(index + 1),
      role: MessageRole.MESSAGE_ROLE_USER,
      text: "x".repeat(size),
    }),
  );
const range = (...given: Parameters<typeof planCompaction>) => {
  const found = planCompaction(...given);
  return found === undefined ? undefined : [found.firstRow, found.lastRow];
};

test("what came before the input is summarised", () => {
  expect(range(rows(50, 50, 10), 3n)).toEqual([1n, 2n]);
  expect(range(rows(50, 50, 10, 40), 3n)).toEqual([1n, 2n]);
});

test("the turn itself is, where that takes the room", () => {
  expect(range(rows(5, 5, 10, 400, 400), 3n)).toEqual([1n, 5n]);
  expect(range(rows(10, 400), 1n)).toEqual([1n, 2n]);
});

test("nothing is where nothing would be gained, and nothing twice", () => {
  expect(range(rows(1_000), 1n)).toBeUndefined();
  expect(range([], undefined)).toBeUndefined();
  const [first, ...rest] = rows(50, 60, 10);
  if (first === undefined) throw new Error("no row");
  expect(range([{ ...first, compacted: true }, ...rest], 3n)).toEqual([2n, 2n]);
});
