import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

import { isAlive, readProcess } from "../../src/base/processTable.js";
import { ApprovalChoice, type Prompt } from "../../src/gen/talaria/types/v1/prompt.js";
import { startScriptedModel, type RecordedRequest } from "../kit/scriptedModel.js";
import { calling, saying } from "../kit/scriptedModelReplies.js";
import { sessionOf, type UpdateLog } from "../kit/turnClient.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitFor } from "../kit/waitFor.js";

const model = await startScriptedModel();
const allowed = { approvals: "allow" };
const gateway = useTestGateway({
  // A busy machine takes its time over Stop; what is tested is that it comes to its end.
  budgets: { turnFinalWorkMs: 2_000, stopTermAfterMs: 2_500, stopKillAfterMs: 4_000, stopTotalMs: 6_000 },
  agents: {
    careful: model.agent("careful"),
    denied: model.agent("denied", { approvals: "deny" }),
    ...Object.fromEntries(
      ["runner", "slow", "flood", "stuck", "ground"].map((name) => [name, model.agent(name, allowed)]),
    ),
    boxed: model.agent("boxed", { ...allowed, terminal: { sandbox: "bubblewrap" } }),
    stranger: model.agent("stranger", { ...allowed, terminal: { user: "no-such-user" } }),
  },
});
afterAll(() => model.close());

let calls = 0;
const terminal = (command: string, more: object = {}) =>
  calling({ id: `t${String((calls += 1))}`, name: "terminal", arguments: { command, ...more } });
const lastResult = ({ body }: RecordedRequest): string => String(body.messages.at(-1)?.content);
const workspaceOf = (name: string): string => join(gateway().home, "agents", name, "workspace");
const gone = (pid: number): Promise<unknown> =>
  waitFor(`process ${String(pid)} is gone`, () => (isAlive(readProcess(pid)) ? { state: "alive" } : { found: true }));

async function approval(run: UpdateLog, after = 0): Promise<Prompt & { readonly command: string }> {
  const prompt = await run.next("promptRaised", after);
  const command = prompt.request?.$case === "approval" ? prompt.request.value.command : "";
  return { ...prompt, command };
}

test("a command is asked about, runs in the workspace, and a grant of the session lasts", async () => {
  const command = "echo hello from $(basename $PWD); echo oops >&2; exit 3";
  model.script("careful", terminal(command), terminal(command), terminal("rm -rf nothing"), saying("Done."));
  const run = gateway().client.run("careful", "go");
  const first = await approval(run);
  expect(first.command).toBe(command);
  await gateway().client.choose(first.promptId, ApprovalChoice.APPROVAL_CHOICE_SESSION);
  const text = lastResult(await model.asked("careful", 2));
  expect(text).toMatch(/^\[exit code 3 after \d+\.\d s\]\nhello from workspace\noops\n$/);
  // The second run of the same command is not asked about; what is dangerous is, and can be allowed once only.
  const seen = run.items.length;
  const dangerous = await approval(run, seen);
  expect(dangerous.command).toBe("rm -rf nothing");
  expect(dangerous.offered).toEqual([ApprovalChoice.APPROVAL_CHOICE_ONCE, ApprovalChoice.APPROVAL_CHOICE_DENY]);
  await gateway().client.choose(dangerous.promptId, ApprovalChoice.APPROVAL_CHOICE_DENY);
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "Done." });
  expect(lastResult(await model.asked("careful", 4))).toContain("The command was not run: the person denied it.");
});

test("where the policy denies, nobody is asked", async () => {
  model.script("denied", terminal("touch made"), saying("No."));
  const run = gateway().client.run("denied", "go");
  expect((await run.outcome()).answer).toBe("No.");
  expect(lastResult(await model.asked("denied", 2))).toContain("The command was not run: the agent's policy denies");
  expect(existsSync(join(workspaceOf("denied"), "made"))).toBe(false);
});

test("commands see neither the launch pipe nor what is meant for the worker", async () => {
  model.script("runner", terminal("cat; env | grep -c ^TALARIA_; true"), saying("Done."));
  await gateway().client.run("runner", "go").outcome();
  expect(lastResult(await model.asked("runner", 2))).toMatch(/\]\n0\n$/);
});

test("a command over its time ends with everything it has started", async () => {
  model.script("slow", terminal("sleep 4321 & echo $!; sleep 4321", { timeout_seconds: 1 }), saying("Done."));
  await gateway().client.run("slow", "go").outcome();
  const text = lastResult(await model.asked("slow", 2));
  const [, pid = "0"] = /^\[ended by its time limit after \d+\.\d s\]\n(\d+)\n/.exec(text) ?? [];
  expect(Number(pid)).toBeGreaterThan(1);
  await gone(Number(pid));
});

test("a command that prints without end is ended, and its output bounded", async () => {
  model.script("flood", terminal("yes talaria"), saying("Done."));
  await gateway().client.run("flood", "go").outcome();
  const text = lastResult(await model.asked("flood", 2));
  expect(text).toMatch(/^\[ended for printing too much/);
  expect(text).toMatch(/bytes left out/);
  expect(text.length).toBeLessThan(60_000);
});

test("Stop ends a command that never returns, and no process is left", async () => {
  model.script("stuck", terminal("trap '' TERM; echo $$ > pid; sleep 4321"));
  const run = gateway().client.run("stuck", "go");
  const executionId = await run.started();
  const file = join(workspaceOf("stuck"), "pid");
  const pid = await waitFor("the command's pid", () => {
    const text = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
    return text === "" ? { state: text } : { found: Number(text) };
  });
  await gateway().client.stop(executionId);
  expect(await run.outcome()).toMatchObject({ outcome: "INTERRUPTED" });
  await gone(pid);
  const [row] = gateway().rows<{ text: string }>(
    "SELECT text FROM messages WHERE tool_name = 'terminal' AND session_id = ?",
    await sessionOf(run),
  );
  expect(row?.text).toContain("The turn was stopped before the tool was done.");
});

test("a background command outlives its turn and is polled and ended by the next one", async () => {
  model.script("ground", terminal("echo ready; exec sleep 4321", { background: true }), saying("Started."));
  const first = gateway().client.run("ground", "go");
  expect((await first.outcome()).answer).toBe("Started.");
  const [, id = ""] = /as (bg_[0-9a-f]+)\./.exec(lastResult(await model.asked("ground", 2))) ?? [];
  const [record] = gateway().rows<{ pid: number; state: string; command: string }>(
    "SELECT pid, state, command FROM background_processes WHERE process_id = ?",
    id,
  );
  expect(record).toMatchObject({ state: "running", command: "echo ready; exec sleep 4321" });
  const pid = record?.pid ?? 0;
  await waitFor("the worker is gone", () =>
    gateway().workerPids().length === 0 ? { found: true } : { state: gateway().workerPids() },
  );
  expect(isAlive(readProcess(pid))).toBe(true);

  const output = join(workspaceOf("ground"), ".talaria", "processes", id, "output.1");
  await waitFor("its output", () => {
    const text = existsSync(output) ? readFileSync(output, "utf8") : "";
    return text === "" ? { state: text } : { found: text };
  });
  const sessionId = await sessionOf(first);
  model.script(
    "ground",
    calling({ id: "p1", name: "terminal_poll", arguments: { process_id: id } }),
    calling({ id: "k1", name: "terminal_kill", arguments: { process_id: id } }),
    calling({ id: "p2", name: "terminal_poll", arguments: { process_id: "bg_other" } }),
    saying("Ended."),
  );
  const second = gateway().client.say(sessionId, "end it");
  expect((await second.outcome()).answer).toBe("Ended.");
  expect(lastResult(await model.asked("ground", 4))).toBe("[running]\nready\n");
  expect(lastResult(await model.asked("ground", 5))).toBe(`${id} has ended.`);
  expect(lastResult(await model.asked("ground", 6))).toContain('no background process "bg_other" of this session');
  await gone(pid);
  expect(gateway().rows("SELECT 1 FROM background_processes WHERE state = 'running'")).toEqual([]);
});

test("a background command that ends by itself leaves its exit code, and its output stays bounded", async () => {
  model.script("ground", terminal("yes talaria | head -c 2000000; exit 7", { background: true }), saying("Started."));
  const first = gateway().client.run("ground", "go");
  await first.outcome();
  const before = model.of("ground").length;
  const [, id = ""] = /as (bg_[0-9a-f]+)\./.exec(lastResult(await model.asked("ground", before))) ?? [];
  const folder = join(workspaceOf("ground"), ".talaria", "processes", id);
  await waitFor("its exit code", () => {
    const files = existsSync(folder) ? readdirSync(folder) : [];
    return files.includes("exit") ? { found: true } : { state: files };
  });
  model.script("ground", calling({ id: "p", name: "terminal_poll", arguments: { process_id: id } }), saying("Seen."));
  await gateway()
    .client.say(await sessionOf(first), "look")
    .outcome();
  expect(lastResult(await model.asked("ground", before + 2))).toMatch(/^\[exit code 7\]\n/);
  expect(gateway().rows("SELECT exit_code FROM background_processes WHERE process_id = ?", id)).toEqual([
    { exit_code: 7 },
  ]);
});

test.skipIf(!existsSync("/usr/bin/bwrap"))("bubblewrap leaves the workspace writable and hides the home", async () => {
  const command = `echo in > made; echo in > .talaria/made; ls ${gateway().home}; touch /etc/talaria-was-here; echo end`;
  model.script("boxed", terminal(command), saying("Done."));
  await gateway().client.run("boxed", "go").outcome();
  const text = lastResult(await model.asked("boxed", 2));
  expect(text).toMatch(/agents\n.*Read-only file system\nend\n$/s);
  expect(text).not.toContain("state.db");
  expect(readFileSync(join(workspaceOf("boxed"), "made"), "utf8")).toBe("in\n");
  // What the worker keeps there is not the command's to change: the worker writes outside the sandbox.
  expect(readdirSync(join(workspaceOf("boxed"), ".talaria"))).toEqual([]);
});

test("what the policy wants around a command is never left out", async () => {
  model.script("stranger", terminal("touch made"), saying("Done."));
  await gateway().client.run("stranger", "go").outcome();
  expect(lastResult(await model.asked("stranger", 2))).not.toContain("exit code 0");
  expect(existsSync(join(workspaceOf("stranger"), "made"))).toBe(false);
});

test("files that a person put into the workspace are read, and links out of it are not", async () => {
  const workspace = workspaceOf("runner");
  writeFileSync(join(workspace, "given.txt"), "one\ntwo\nthree\n");
  model.script(
    "runner",
    terminal(`ln -s ${gateway().home}/talaria.yaml out; ln -s . loop; mkfifo pipe`),
    calling(
      { id: "a", name: "read_file", arguments: { path: "given.txt", offset: 2, limit: 1 } },
      { id: "b", name: "read_file", arguments: { path: "out" } },
      { id: "c", name: "read_file", arguments: { path: "loop/given.txt" } },
      { id: "d", name: "read_file", arguments: { path: "pipe" } },
      { id: "e", name: "write_file", arguments: { path: "out", content: "x" } },
      { id: "f", name: "read_file", arguments: { path: join(workspace, "given.txt"), offset: 3 } },
    ),
    saying("Done."),
  );
  const asked = model.of("runner").length;
  await gateway().client.run("runner", "go").outcome();
  const { body } = await model.asked("runner", asked + 3);
  const results = body.messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  expect(results.slice(-6)).toEqual([
    "two\n[… 3 lines in all; go on with offset 3]",
    "path: out is a link, and links are not followed.",
    "path: loop leads through a link or through something that is no folder.",
    "path: pipe is no regular file.",
    "path: out is a link, and links are not followed.",
    "three",
  ]);
});

test("what a worker has left behind is still not a client of the gateway", async () => {
  const call = join(process.cwd(), "test/gateway/callAfterLine.ts");
  const command =
    `while [ ! -e go ]; do sleep 0.05; done; cd ${process.cwd()} && ` +
    `echo go | node --import tsx ${call} ${gateway().gateway.addresses.clientSocket}`;
  model.script("ground", terminal(command, { background: true }), saying("Started."));
  const before = model.of("ground").length;
  await gateway().client.run("ground", "go").outcome();
  const [, id = ""] = /as (bg_[0-9a-f]+)\./.exec(lastResult(await model.asked("ground", before + 2))) ?? [];
  await waitFor("the worker is gone", () =>
    gateway().workerPids().length === 0 ? { found: true } : { state: gateway().workerPids() },
  );
  writeFileSync(join(workspaceOf("ground"), "go"), "");
  const folder = join(workspaceOf("ground"), ".talaria", "processes", id);
  const output = await waitFor("its output", () => {
    const files = existsSync(folder) ? readdirSync(folder) : [];
    return files.includes("exit")
      ? { found: readFileSync(join(folder, "output.1"), "utf8") }
      : { state: [files, files.includes("output.1") ? readFileSync(join(folder, "output.1"), "utf8") : ""] };
  });
  expect(output).toBe("health ok\nstatus PERMISSION_DENIED\n");
});
