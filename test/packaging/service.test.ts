import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { DEFAULT_BUDGETS } from "../../src/base/budgets.js";
import { EXIT_CODES } from "../../src/cli/exitCodes.js";

const UNIT = "packaging/systemd/talaria.service";
const text = readFileSync(UNIT, "utf8");

/** The values of a key, in order. */
function valuesOf(key: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value = ""]) => value);
}

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

test.runIf(hasSystemd)("systemd finds nothing wrong with the unit", () => {
  const folder = mkdtempSync(join(tmpdir(), "tu-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  // The unit is checked where the command is not installed.
  const file = join(folder, "talaria.service");
  writeFileSync(file, text.replace("/usr/local/bin/talaria", process.execPath));
  const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", file], { encoding: "utf8" });
  const about = `${stdout}${stderr}`.split("\n").filter((line) => line.includes("talaria"));
  expect(about).toEqual([]);
  expect(status, stderr).toBe(0);
});

test("the unit gives a drain the time it may take, and starts nothing again that cannot start", () => {
  expect(Number(valuesOf("TimeoutStopSec")[0]) * 1_000).toBeGreaterThan(
    DEFAULT_BUDGETS.drainMs + DEFAULT_BUDGETS.stopTotalMs,
  );
  const codes = EXIT_CODES.map(({ code }) => String(code));
  expect(codes).toContain(valuesOf("RestartPreventExitStatus")[0]);
  expect(valuesOf("KillMode")).toEqual(["mixed"]);
});

test("the image serves the home that its volume holds, as a user of its own", () => {
  const image = readFileSync("packaging/docker/Dockerfile", "utf8");
  const script = readFileSync("packaging/docker/install.sh", "utf8");
  const home = /^ENV TALARIA_HOME=(.*)$/m.exec(image)?.[1];
  expect(/^VOLUME (.*)$/m.exec(image)?.[1]).toBe(home);
  expect(script).toContain(`-o talaria -g talaria ${home ?? "?"}`);
  expect(image).toMatch(/^USER talaria$/m);
  expect(image).toMatch(/^STOPSIGNAL SIGTERM$/m);
});
