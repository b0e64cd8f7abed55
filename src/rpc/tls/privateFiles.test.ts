import { lstat, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createOnce, readOwnFile } from "./privateFiles.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "talaria-private-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe("createOnce", () => {
  it("never replaces a file, and leaves no other behind", async () => {
    const path = join(folder, "secret");
    await createOnce(path, "first");
    await createOnce(path, "second");
    expect(await readFile(path, "utf8")).toBe("first");
    expect((await lstat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(["secret"]);
  });
});

describe("readOwnFile", () => {
  it("says that a file is missing, and refuses one that is too large", async () => {
    const path = join(folder, "secret");
    expect(await readOwnFile(path, "secret")).toBeUndefined();
    await createOnce(path, "x".repeat(64 * 1024 + 1));
    await expect(readOwnFile(path, "secret")).rejects.toMatchObject({ problem: "malformed", path });
  });
});
