import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";

import { isAlive, readProcess } from "../../src/base/processTable.js";
import { readMarks } from "../../src/owner/launch/launchMark.js";
import { type RecordedRequest, startScriptedModel } from "../kit/scriptedModel.js";
import { calling, saying } from "../kit/scriptedModelReplies.js";
import { sessionOf } from "../kit/turnClient.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitFor, waitUntil } from "../kit/waitFor.js";

const model = await startScriptedModel();
const names = ["leaves", "stays", "killed"] as const;
const gateway = useTestGateway({
  agents: Object.fromEntries(names.map((name) => [name, model.agent(name, { approvals: "allow" })])),
});
const left: number[] = [];
afterEach(() => {
  for (const pid of left.splice(0)) if (isAlive(readProcess(pid))) process.kill(pid, "SIGKILL");
});
afterAll(() => model.close());

/** Leaves its session, its parent and its standard streams, as a daemon does, and writes its pid to a file. */
const daemon = (file: string): string =>
  `setsid sh -c 'setsid sh -c "echo \\$\\$ >${file}.new; mv ${file}.new ${file}; exec sleep 4321" & exit' </dev/null >/dev/null 2>&1`;
const written = (file: string): string => `while [ ! -e ${file} ]; do :; done`;

let calls = 0;
const terminal = (command: string, more: object = {}) =>
  calling({ id: `t${String((calls += 1))}`, name: "terminal", arguments: { command, ...more } });
const lastResult = ({ body }: RecordedRequest): string => String(body.messages.at(-1)?.content);

/** The pid that a daemon has written; it is ended after the test, whatever becomes of it. */
async function pidIn(agent: string, file: string): Promise<number> {
  const path = join(gateway().home, "agents", agent, "workspace", file);
  const pid = await waitFor(`the pid in ${file}`, () => {
    const text = existsSync(path) ? readFileSync(path, "utf8").trim() : "";
    return text === "" ? { state: text } : { found: Number(text) };
  });
  left.push(pid);
  return pid;
}

test("OW-R21 what a command has put into a session of its own is ended before the session's next input starts", async () => {
  model.script("leaves", terminal(`${daemon("escaped")}; ${written("escaped")}`), saying("Left."));
  const first = gateway().client.run("leaves", "go");
  const sessionId = await sessionOf(first);
  await model.asked("leaves", 2);
  const pid = await pidIn("leaves", "escaped");
  // Not by a signal: that reaches what has ended too, until somebody has collected it.
  model.script("leaves", terminal(`readlink /proc/${String(pid)}/exe && echo there || echo ended`), saying("Seen."));
  const next = gateway().client.say(sessionId, "look");
  expect((await first.outcome()).answer).toBe("Left.");
  expect((await next.outcome()).answer).toBe("Seen.");
  expect(lastResult(await model.asked("leaves", 4))).toMatch(/\nended\n$/);
  expect(isAlive(readProcess(pid))).toBe(false);
  expect(gateway().log.filter((line) => line.includes("had left their turn's group"))).toHaveLength(1);
});

test("what a background command has put into a session of its own goes on after the turn, as the command does", async () => {
  const command = `${daemon("kept")}; exec sleep 4321`;
  model.script("stays", terminal(command, { background: true }), terminal(written("kept")), saying("Started."));
  const run = gateway().client.run("stays", "go");
  expect((await run.outcome()).answer).toBe("Started.");
  const pid = await pidIn("stays", "kept");
  const [record] = gateway().rows<{ pid: number }>("SELECT pid FROM background_processes");
  left.push(record?.pid ?? 0);
  await waitUntil("the worker is gone", () => gateway().workerPids().length === 0);
  const { turn } = await run.outcome();
  const [launch] = gateway().rows<{ id: string; gone: number | null }>(
    "SELECT launch_id AS id, gone_at AS gone FROM launches JOIN executions USING (launch_id) WHERE execution_id = ?",
    turn.executionId,
  );
  expect(launch?.gone).not.toBeNull();
  // Both are known for what they are: the client socket takes no call from them.
  for (const one of [pid, record?.pid ?? 0]) {
    expect(isAlive(readProcess(one))).toBe(true);
    expect(readMarks(one)).toEqual({ launch: launch?.id, background: true });
  }
  if (record !== undefined) process.kill(-record.pid, "SIGKILL");
});

test("OW-R21 F21 what the command of a worker that is killed has left anywhere is ended with it", async () => {
  model.script("killed", terminal(`${daemon("escaped")}; ${written("escaped")}; sleep 4321`));
  const run = gateway().client.run("killed", "go");
  const pid = await pidIn("killed", "escaped");
  for (const worker of gateway().workerPids()) process.kill(worker, "SIGKILL");
  expect(await run.outcome()).toMatchObject({ outcome: "UNKNOWN" });
  await waitUntil("it is gone", () => !isAlive(readProcess(pid)));
});
