import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

import { descendantsOf, readProcess, systemProcessTable } from "../../src/base/processTable.js";
import { noSurroundings, talariaCommand } from "../cli/useTalaria.js";
import { writeHome } from "../kit/homeFiles.js";
import { rowsOf } from "../kit/serveProcess.js";
import { waitFor, waitUntil } from "../kit/waitFor.js";

const run = promisify(execFile);

/** A namespace in which the command is process 1, and dies with what started it. */
const NAMESPACE = ["--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"];
const possible = process.platform === "linux" && spawnSync("unshare", [...NAMESPACE, "true"]).status === 0;

/** Starts `serve` as process 1 of its namespace, with standard input closed and no terminal. */
function serveAsFirst(home: string) {
  const script = 'exec "$0" "$@" <&-';
  const command = [process.execPath, talariaCommand, "--json", "--home", home, "serve"];
  const child = spawn("unshare", [...NAMESPACE, "sh", "-c", script, ...command], {
    env: { ...process.env, ...noSurroundings },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  const ended = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return { child, ended, log: () => log };
}

test.runIf(possible)(
  "as process 1, without a terminal or standard input, it reaps orphans and drains at SIGTERM",
  { timeout: 60_000 },
  async () => {
    const home = writeHome();
    onTestFinished(() => {
      rmSync(home, { recursive: true, force: true });
    });
    const { child, ended, log } = serveAsFirst(home);
    const [line] = (await Promise.race([
      once(createInterface({ input: child.stdout }), "line"),
      ended.then(() => Promise.reject(new Error(log()))),
    ])) as [string];
    expect(JSON.parse(line)).toMatchObject({ serving: home });
    const gateway = await waitFor("the gateway's process", () => {
      const found = systemProcessTable.list().find(({ parentPid }) => parentPid === child.pid);
      return found === undefined ? { state: "none" } : { found: found.pid };
    });

    const inside = ["--target", String(gateway), "--user", "--pid", "--mount", "--preserve-credentials", "--"];
    const talaria = (...args: readonly string[]) =>
      run("nsenter", [...inside, process.execPath, talariaCommand, "--home", home, ...args], {
        env: { ...process.env, ...noSurroundings },
      });
    const children = (): string[] =>
      systemProcessTable
        .list()
        .filter(({ parentPid }) => parentPid === gateway)
        .map(({ pid, state }) => `${String(pid)} ${state}`);

    // A process whose parent dies at once: the kernel gives it to process 1, where it dies.
    await run("nsenter", [...inside, "sh", "-c", "sleep 0.5 >/dev/null 2>&1 & true"]);
    await waitUntil("the orphan is a child of process 1", () => children().length === 1, children);
    await waitUntil("the orphan is gone", () => children().length === 0, children);

    expect((await talaria("run", "echo", "still there")).stdout).toContain("still there");
    // The end of process 1 takes everything of its namespace with it, the client perhaps before it has printed.
    const running = talaria("run", "echo", "!sleep 1500\nended in peace").catch(() => undefined);
    await waitUntil(
      "a worker runs",
      () => rowsOf(home, "SELECT 1 FROM executions WHERE state = 'adopted'").length === 1,
      children,
    );
    process.kill(gateway, "SIGTERM");
    expect(await ended, log()).toEqual([0, null]);
    await running;
    expect(rowsOf(home, "SELECT state, outcome FROM executions")).toEqual([
      { state: "finished", outcome: "completed" },
      { state: "finished", outcome: "completed" },
    ]);
    expect(readProcess(gateway)).toBeUndefined();
    expect(descendantsOf(child.pid ?? 0)).toEqual([]);
  },
);
