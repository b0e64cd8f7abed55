import { join } from "node:path";
import { expect, test } from "vitest";

import { paths } from "./paths.js";
import { runTool } from "./runTool.js";

const talaria = (...args: string[]) => runTool(process.execPath, [paths.command, ...args]);
const worker = [process.execPath, join(paths.root, "dist/worker/main.cjs")];

test("talaria conformance worker prints a table and ends with 0 where every check passes", async () => {
  const { code, stdout, stderr } = await talaria("conformance", "worker", "--only", "bad frame", "--", ...worker);
  expect(code, stdout + stderr).toBe(0);
  const [head, first] = stdout.split("\n");
  expect(head).toMatch(/^CHECK +RESULT +SEEN$/);
  expect(first).toMatch(/^bad frame: finish before result +passed +The frame "finish" is not allowed/);
  expect(stdout).toMatch(/\n5 passed, 0 failed, 0 skipped\.\n$/);
});

test("with --json each outcome is a line; a failed check ends with 1 and names the rule", async () => {
  const json = await talaria("--json", "conformance", "worker", "--only", "hello", "--wait", "3", "--", "/bin/true");
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ name: "hello", result: "failed" });
  const text = await talaria("conformance", "worker", "--only", "hello", "--wait", "3", "--", "/bin/true");
  expect(text.stdout).toContain("Rules that were broken:\n  hello: The first frame is hello");
});

test("what cannot be skipped is refused with what can", async () => {
  const { code, stderr } = await talaria("conformance", "worker", "--skip", "everything", "--", ...worker);
  expect(code).toBe(64);
  expect(stderr).toContain("everything");
});
