import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { VERSION } from "./version.js";

test("the version is the package's", () => {
  const file = new URL("../../package.json", import.meta.url);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ version: VERSION });
});
