import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { breakages } from "./breakages.mjs";

const ROOT = join(import.meta.dirname, "..", "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

test("breakages have names of their own", () => {
  const names = breakages.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test.each(breakages.map((breakage) => [breakage.name, breakage] as const))(
  "what %s breaks stands once in its file, and the test that is to catch it is there",
  (_, { file, find, replace, test: suite, title }) => {
    expect(read(file).split(find).length - 1).toBe(1);
    expect(replace).not.toBe(find);
    expect(read(suite)).toMatch(new RegExp(title));
  },
);
