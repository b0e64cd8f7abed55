import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

import { seededRandom } from "../../base/testing/seededRandom.js";
import { openForReading, replaceFile } from "./workspaceFiles.js";
import { workspaceParts } from "./workspacePath.js";

const root = mkdtempSync(join(tmpdir(), "files-"));
const workspace = join(root, "workspace");
mkdirSync(join(workspace, "sub"), { recursive: true });
writeFileSync(join(root, "outside"), "secret");
writeFileSync(join(workspace, "sub", "a"), "alpha", { mode: 0o750 });
symlinkSync(join(root, "outside"), join(workspace, "link"));
symlinkSync(root, join(workspace, "folder"));
afterAll(() => {
  rmSync(root, { recursive: true });
});

const random = seededRandom(1);
const write = (path: string, content: string): Promise<boolean> =>
  replaceFile(workspace, path.split("/"), content, random);
const read = async (path: string): Promise<string> => {
  const { handle } = await openForReading(workspace, path.split("/"));
  try {
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
};

test.each(["../outside", "sub/../../outside", "/etc/passwd", "..", "a\0b", "", ".", "./", "x".repeat(5_000)])(
  "%j is no path inside",
  (path) => {
    expect(() => workspaceParts(path, "/home/w")).toThrow(/^path: /);
  },
);

test("a path inside may be absolute and untidy", () => {
  expect(workspaceParts("/home/w//a/./b", "/home/w")).toEqual(["a", "b"]);
  expect(workspaceParts("a//b/", "/home/w")).toEqual(["a", "b"]);
});

test("files are written whole, in folders that are made, and keep their permissions", async () => {
  expect(await write("new/deep/b", "beta")).toBe(false);
  expect(await read("new/deep/b")).toBe("beta");
  expect(await write("sub/a", "alpha two")).toBe(true);
  expect(await read("sub/a")).toBe("alpha two");
  expect(statSync(join(workspace, "sub", "a")).mode & 0o777).toBe(0o750);
  expect(readdirSync(join(workspace, "sub"))).toEqual(["a"]);
});

test("no link is followed, at the end or on the way", async () => {
  await expect(read("link")).rejects.toThrow("path: link is a link");
  await expect(read("folder/outside")).rejects.toThrow("path: folder leads through a link");
  await expect(write("link", "x")).rejects.toThrow("path: link is a link");
  await expect(write("folder/outside", "x")).rejects.toThrow("path: folder leads through a link");
  await expect(write("folder/made/x", "x")).rejects.toThrow("path: folder leads through a link");
  expect(readFileSync(join(root, "outside"), "utf8")).toBe("secret");
  expect(readdirSync(root).sort()).toEqual(["outside", "workspace"]);
});

test("folders and missing files say so", async () => {
  await expect(read("sub")).rejects.toThrow("path: sub is a folder.");
  await expect(write("sub", "x")).rejects.toThrow("path: sub is a folder.");
  await expect(read("none")).rejects.toThrow("path: there is no none.");
  await expect(read("sub/a/b")).rejects.toThrow("path: sub/a leads through");
});
