import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { moveFile } from "./moveFile.js";

test("a file is moved with its content, and nothing is overwritten", () => {
  const folder = mkdtempSync(join(tmpdir(), "mf-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const [from, to] = [join(folder, "from"), join(folder, "to")];
  writeFileSync(from, "content", { mode: 0o600 });
  moveFile(from, to);
  expect(readFileSync(to, "utf8")).toBe("content");
  expect(statSync(to).mode & 0o777).toBe(0o600);
  expect(existsSync(from)).toBe(false);
  writeFileSync(from, "another");
  expect(() => {
    moveFile(from, to);
  }).toThrow(expect.objectContaining({ code: "EEXIST" }));
  expect(readFileSync(to, "utf8")).toBe("content");
  expect(existsSync(from)).toBe(true);
  expect(() => {
    moveFile(from, join(folder, "nowhere", "to"));
  }).toThrow(expect.objectContaining({ code: "ENOENT" }));
  expect(existsSync(from)).toBe(true);
});
