import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { DatabaseSync } from "@photostructure/sqlite";
import { expect, onTestFinished, test } from "vitest";

import { homePaths } from "../../src/base/home.js";
import { isAlive, readProcess } from "../../src/base/processTable.js";
import { rowsOf, ServeProcess } from "../kit/serveProcess.js";
import { TurnClient, sessionOf } from "../kit/turnClient.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { processGone, useServe } from "../kit/useServe.js";

const COMMAND = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** More than the kernel gives out. */
const NOBODY = 2 ** 22 + 1;

const workers = useForeignWorkers();
const fixture = useServe();
const makeHome = (): string =>
  fixture.home(
    {},
    { agents: { foreign: { runtime: "command", worker: { command: workers.command } }, echo: { runtime: "echo" } } },
  );

/** A turn whose gateway and whose worker were both killed while it ran. */
async function abandon(home: string): Promise<{ inputId: string; sessionId: string; birth: bigint }> {
  const first = await fixture.serve(home);
  const run = first.connect().run("foreign", "hello");
  const worker = await workers.next();
  await worker.running();
  const { inputId = "" } = (await run.next("inputQueued")).turn ?? {};
  const sessionId = await sessionOf(run);
  await first.kill();
  worker.exit(1);
  await processGone(worker.launched.pid);
  return { inputId, sessionId, birth: worker.launched.birth };
}

/** Writes another process into the record of a home's only launch. */
function recordLaunch(home: string, pid: number, birth: bigint): void {
  const database = new DatabaseSync(homePaths(home).database);
  database
    .prepare("UPDATE launches SET pid = ?, birth = ?, process_group = ?, worker_pid = NULL, worker_birth = NULL")
    .run(pid, birth.toString(), pid);
  database.close();
}

/** Leaves nothing in the record for the end of the test to wait for: who is in it is not the gateway's. */
const forgetLaunch = (home: string): void => {
  recordLaunch(home, NOBODY, 1n);
};

/** Starts a process that leads a group and a session of its own, ended after the test. */
function startLeader(
  command: string,
  args: readonly string[],
  stdout: "pipe" | "ignore",
): ChildProcess & { pid: number } {
  const child = spawn(command, args, { detached: true, stdio: ["pipe", stdout, "ignore"] });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  });
  if (child.pid === undefined) throw new Error("it did not start");
  return child as ChildProcess & { pid: number };
}

const unproved = (home: string): unknown =>
  rowsOf<{ unproved: string | null }>(home, "SELECT unproved FROM launches")[0];

test("OW-R14 a stranger who has a dead worker's number by now is left alone, and the log says so", async () => {
  const home = makeHome();
  const { inputId, birth } = await abandon(home);
  const stranger = startLeader("sleep", ["600"], "ignore");
  recordLaunch(home, stranger.pid, birth);
  const second = await fixture.serve(home);
  expect(isAlive(readProcess(stranger.pid))).toBe(true);
  await second.log.first(
    "word of the stranger",
    (line) => line.includes("left alone") && line.includes(String(stranger.pid)),
  );
  expect(unproved(home)).toMatchObject({ unproved: expect.stringContaining(String(stranger.pid)) as string });
  expect(await second.connect().turn(inputId)).toMatchObject({ outcome: "UNKNOWN", reason: "OWNER_LOST" });
  expect((await second.connect().run("echo", "goes on").outcome()).answer).toBe("goes on");
  expect(isAlive(readProcess(stranger.pid))).toBe(true);
  await second.kill();
  forgetLaunch(home);
});

/** Waits for a line, then serves a home in a session of its own. */
const WRAPPER = `
  const [command, home] = process.argv.slice(1);
  process.stdin.once("data", () => {
    const args = [command, "--json", "--home", home, "serve"];
    const child = require("node:child_process").spawn(process.execPath, args, { detached: true, stdio: ["ignore", "inherit", "ignore"] });
    process.stdin.once("data", () => child.kill("SIGTERM"));
    child.once("exit", () => process.exit(0));
  });`;

test("OW-R15 a launch record that names an ancestor of the gateway kills nobody", async () => {
  const home = makeHome();
  const { inputId } = await abandon(home);
  const ancestor = startLeader(process.execPath, ["-e", WRAPPER, COMMAND, home], "pipe");
  const facts = readProcess(ancestor.pid);
  if (facts === undefined || ancestor.stdout === null) throw new Error("no ancestor");
  // Its own birth, so that nothing but its place above the gateway protects it.
  recordLaunch(home, ancestor.pid, facts.birthTicks);
  ancestor.stdin?.write("serve\n");
  await once(createInterface(ancestor.stdout), "line");
  expect(isAlive(readProcess(ancestor.pid))).toBe(true);
  expect(unproved(home)).toMatchObject({ unproved: expect.stringContaining(String(ancestor.pid)) as string });
  const client = new TurnClient(`unix:${homePaths(home).gatewaySocket}`);
  expect(await client.turn(inputId)).toMatchObject({ outcome: "UNKNOWN", reason: "OWNER_LOST" });
  client.close();
  const ended = once(ancestor, "exit");
  ancestor.stdin?.write("stop\n");
  await ended;
  forgetLaunch(home);
});

test("OW-R3 AD-2 an adoption that comes after recovery is refused, under either epoch, and its input is not lost", async () => {
  const home = makeHome();
  const first = await fixture.serve(home);
  const run = first.connect().run("foreign", "hello");
  const slow = await workers.next();
  await slow.bootstrapped();
  const old = slow.fence;
  const { inputId = "" } = (await run.next("inputQueued")).turn ?? {};
  // Its home has one holder: a second gateway beside it does not start.
  const beside = new ServeProcess(home);
  await beside.log.first("refusal", (line) => line.includes("HOME_LOCKED"));
  await beside.kill();
  await first.kill();

  const second = await fixture.serve(home);
  expect(isAlive(readProcess(slow.launched.pid))).toBe(false);
  await second.log.first("word of it", (line) => line.includes("queued again") && line.includes(old.executionId));
  const worker = await workers.next();
  await worker.bootstrapped();
  const refusalOf = async (fence: typeof old): Promise<string> => {
    try {
      await worker.adopt({ fence });
    } catch (caught) {
      if (caught instanceof Error && "reason" in caught) return String(caught.reason);
      throw caught;
    }
    return "adopted";
  };
  expect(worker.fence.executionId).not.toBe(old.executionId);
  expect(await refusalOf(old)).toBe("UNKNOWN_EXECUTION");
  expect(await refusalOf({ ...worker.fence, epoch: old.epoch })).toBe("STALE_EPOCH");
  await worker.adopt();
  worker.ready();
  worker.result({ finalResponse: "ran" });
  await worker.leave();
  const client = second.connect();
  const watch = client.watch((await client.turn(inputId)).turn.sessionId);
  await watch.next("snapshot");
  watch.cancel();
  expect(rowsOf(home, "SELECT outcome FROM inputs WHERE input_id = ?", inputId)).toEqual([{ outcome: "completed" }]);
});
