import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";

import { begin, noSurroundings, talaria, talariaCommand } from "../cli/useTalaria.js";
import { writeHome } from "../kit/homeFiles.js";
import { rowsOf } from "../kit/serveProcess.js";
import { waitFor } from "../kit/waitFor.js";

/** Long enough for one whole stop, as the rules of budgets demand. */
const DRAIN_MS = 6_000;
/** What a busy machine may add. */
const SLACK_MS = 12_000;

test("in a session of its own with all its streams closed it serves, and SIGTERM ends it inside its budget", async () => {
  const home = writeHome({ budgets: { drainMs: DRAIN_MS } });
  onTestFinished(() => {
    rmSync(home, { recursive: true, force: true });
  });
  const script = 'exec "$0" "$@" <&- >&- 2>&-';
  const child = spawn("sh", ["-c", script, process.execPath, talariaCommand, "--home", home, "serve"], {
    env: { ...process.env, ...noSurroundings },
    stdio: "ignore",
    detached: true,
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const ended = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  await waitFor("it is reached", async () => {
    const { code, stderr } = await talaria("--home", home, "status");
    return code === 0 ? { found: true } : { state: stderr };
  });

  const turn = begin("--home", home, "--json", "run", "echo", "!sleep 600000");
  for await (const line of createInterface({ input: turn.child.stdout }))
    if (line.includes("TURN_PHASE_RUNNING")) break;
  const began = performance.now();
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  const tookMs = performance.now() - began;
  expect(tookMs).toBeLessThan(DRAIN_MS + SLACK_MS);
  await turn.ended;
  expect(rowsOf(home, "SELECT state, outcome FROM executions")).toEqual([
    { state: "finished", outcome: "interrupted" },
  ]);
});
