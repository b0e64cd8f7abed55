import { once } from "node:events";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

import { talaria, temporaryHome } from "../cli/useTalaria.js";

test("AG-5 it serves with standard input closed and without a terminal", async () => {
  const home = temporaryHome();
  const command = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
  const shell = spawn("sh", ["-c", 'exec "$0" "$1" --json --home "$2" serve <&-', process.execPath, command, home], {
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  onTestFinished(() => {
    shell.kill("SIGKILL");
  });
  await once(createInterface({ input: shell.stdout }), "line");
  const ended = await talaria("--home", home, "run", "main", "No input, no terminal");
  expect(ended.stdout).toBe("No input, no terminal\n");
  shell.kill("SIGTERM");
  const [code] = (await once(shell, "close")) as [number];
  expect(code).toBe(0);
});
