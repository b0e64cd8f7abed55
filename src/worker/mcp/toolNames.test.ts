import { expect, test } from "vitest";

import { createToolNamer, isSelected } from "./toolNames.js";

test("names hold what a model's tools may be called, and no two are equal", () => {
  const nameOf = createToolNamer();
  expect(nameOf("fs", "read")).toBe("mcp_fs_read");
  expect(nameOf("fs", "read")).toBe("mcp_fs_read_2");
  expect(nameOf("fs", "löschen/alles")).toBe("mcp_fs_l_schen_alles");
  const long = "x".repeat(100);
  const names = [nameOf("fs", long), nameOf("fs", long), nameOf("fs", `${long}y`)];
  expect(new Set(names).size).toBe(3);
  for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{64}$/);
});

test.each([
  ["mcp_a_x", [], true],
  ["mcp_a_x", ["mcp_a_x"], true],
  ["mcp_a_x", ["mcp_a_*"], true],
  ["mcp_ab_x", ["mcp_a_*"], false],
  ["mcp_a_x", ["terminal"], false],
  ["mcp_a_x", ["*"], true],
])("%s of %j: %s", (name, selection, expected) => {
  expect(isSelected(name, selection)).toBe(expected);
});
