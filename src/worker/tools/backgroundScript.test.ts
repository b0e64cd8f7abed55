import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";

import { BACKGROUND_FILES, BACKGROUND_SCRIPT, OUTPUT_HALF_BYTES } from "./backgroundScript.js";

const made: string[] = [];
afterEach(() => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
});

/** Runs a shell command as a background process to its end; `$F` is the path of its folder. */
async function run(command: string): Promise<{ readonly workspace: string; readonly folder: string }> {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), "talaria-bg-")));
  made.push(workspace);
  const folder = join(workspace, "folder");
  mkdirSync(folder);
  const child = spawn("/bin/sh", ["-c", BACKGROUND_SCRIPT, "sh", workspace, "/bin/sh", "-c", command], {
    cwd: folder,
    env: { ...process.env, F: folder },
    stdio: "ignore",
  });
  await once(child, "close");
  return { workspace, folder };
}

const text = (folder: string, file: string): string => readFileSync(join(folder, file), "utf8");

test("what comes a line at a time is kept as it comes, and does not end the program", async () => {
  const seen = `while ! grep -qsx "line $i" "$F/${BACKGROUND_FILES.current}"; do :; done`;
  const { workspace, folder } = await run(
    `pwd; i=0; while [ $((i += 1)) -le 40 ]; do echo "line $i"; ${seen}; done; exit 3`,
  );
  const lines = Array.from({ length: 40 }, (_, index) => `line ${String(index + 1)}`);
  expect(text(folder, BACKGROUND_FILES.current).trimEnd().split("\n")).toEqual([workspace, ...lines]);
  expect(text(folder, BACKGROUND_FILES.exit)).toBe("3\n");
});

test("of what comes without end the last is kept, in two bounded files", async () => {
  const { folder } = await run("head -c 3000000 /dev/zero; echo end; exit 7");
  const halves = [BACKGROUND_FILES.previous, BACKGROUND_FILES.current].map((file) => text(folder, file));
  expect(Math.max(...halves.map(({ length }) => length))).toBeLessThanOrEqual(OUTPUT_HALF_BYTES);
  expect(halves.join("")).toMatch(/^\0{100000,}end\n$/);
  expect(text(folder, BACKGROUND_FILES.exit)).toBe("7\n");
});

test("what is put in the place of the folder is left alone, and a program without one goes on", async () => {
  const command = 'mkdir "$F/../other"; mv "$F" "$F.moved"; ln -s other "$F"; head -c 1000000 /dev/zero';
  const { workspace, folder } = await run(`${command}; echo on >$F.moved/seen`);
  expect(readdirSync(join(workspace, "other"))).toEqual([]);
  expect(existsSync(`${folder}.moved/seen`)).toBe(true);
  expect(text(`${folder}.moved`, BACKGROUND_FILES.exit)).toBe("0\n");
  const removed = await run('rm -r "$F"; head -c 1000000 /dev/zero && touch went-on');
  expect(readdirSync(removed.workspace)).toEqual(["went-on"]);
});
