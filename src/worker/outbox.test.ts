import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TurnResult } from "../gen/talaria/types/v1/result.js";
import { openOutbox } from "./outbox.js";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tal-outbox-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});
const result = TurnResult.fromPartial({ finalResponse: "kept" });

test("the result is one private file, written again in place and cleared", () => {
  const outbox = openOutbox({ directory, key: Buffer.alloc(32) }, "exe_a");
  outbox.keep(result);
  outbox.keep(result);
  expect(readdirSync(directory)).toEqual(["result"]);
  expect(statSync(join(directory, "result")).mode & 0o777).toBe(0o600);
  outbox.clear();
  outbox.clear();
  expect(readdirSync(directory)).toEqual([]);
});

test("a link in the way is replaced and never followed", () => {
  const target = join(directory, "elsewhere");
  writeFileSync(target, "untouched");
  symlinkSync(target, join(directory, "result.partial"));
  symlinkSync(target, join(directory, "result"));
  openOutbox({ directory, key: Buffer.alloc(32) }, "exe_a").keep(result);
  expect(readFileSync(target, "utf8")).toBe("untouched");
});

test("a folder that is a link is refused", () => {
  const link = `${directory}.link`;
  symlinkSync(directory, link);
  try {
    expect(() => {
      openOutbox({ directory: link, key: Buffer.alloc(32) }, "exe_a").keep(result);
    }).toThrow("private folder");
  } finally {
    rmSync(link);
  }
});
