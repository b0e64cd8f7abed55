import { expect, test } from "vitest";

import { TextJoiner } from "./textJoiner.js";

test("a character in two pieces comes out whole", () => {
  const joiner = new TextJoiner();
  const [high = "", low = ""] = "🎉".split("");
  expect([joiner.add(`a${high}`), joiner.add(`${low}b`), joiner.add(""), joiner.add("c")]).toEqual([
    "a",
    "🎉b",
    "",
    "c",
  ]);
});
