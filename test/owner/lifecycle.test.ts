import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { StorageError } from "../../src/base/storageError.js";
import { SessionServiceService } from "../../src/gen/talaria/gateway/v1/session_service.js";
import { Reason } from "../../src/gen/talaria/reason/v1/reason.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import type { Command } from "../../src/store/command.js";
import { commitResult } from "../../src/store/turns/commitResult.js";
import type { Writer } from "../../src/store/writer.js";
import { sessionOf } from "../kit/turnClient.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";

const workers = useForeignWorkers();
const gateway = useTestGateway({
  agents: { echo: { runtime: "echo" }, foreign: { runtime: "command", worker: { command: workers.command } } },
});

/** What a process has open, as the kernel names it. */
function openFiles(pid: number): string[] {
  const folder = `/proc/${String(pid)}/fd`;
  return readdirSync(folder).flatMap((fd) => {
    try {
      return [readlinkSync(join(folder, fd))];
    } catch {
      // It was closed between the two looks.
      return [];
    }
  });
}

test.runIf(process.platform === "linux")("OW27 a worker has nothing of its gateway's home open", async () => {
  const { client, home, workerPids, context } = gateway();
  const run = client.run("echo", "!append a row\n!say written\n!approve wait");
  await run.saw("written");
  const { promptId } = await run.next("promptRaised");
  const [pid = 0] = workerPids();
  const open = openFiles(pid);
  expect(open.length).toBeGreaterThan(3);
  expect(open.filter((path) => path.startsWith(home))).toEqual([]);
  // The look would have found it.
  expect(openFiles(process.pid)).toContain(context.paths.database);
  await client.choose(promptId, 1);
  expect((await run.outcome()).outcome).toBe("COMPLETED");
});

test("OW54 a reset after turns leaves later ones the rows behind it, and the queue and its keys as they were", async () => {
  const { client } = gateway();
  const run = client.run("echo", "before", { requestId: "kept" });
  const sessionId = await sessionOf(run);
  const { turn } = await run.outcome();
  expect((await client.say(sessionId, "!history").outcome()).answer).toContain("last user: !history");
  await client.run("echo", "elsewhere").outcome();
  const reset = { requestId: "reset", sessionId };
  await unaryCall(client.client, SessionServiceService.resetSession, reset);
  const later = await client.say(sessionId, "!history").outcome();
  expect(later).toMatchObject({ outcome: "COMPLETED", turn: { sessionId } });
  expect(later.answer).toBe("history: 1 rows, last user: !history");
  const again = await client.run("echo", "before", { requestId: "kept" }).outcome();
  expect(again.turn.inputId).toBe(turn.inputId);
});

test("OW55 F34 a worker that cannot make its runtime ends the turn with one reason, told once in the log", async () => {
  const { client, log } = gateway();
  const run = client.run("foreign", "hello");
  const worker = await workers.next();
  await worker.bootstrapped();
  await worker.adopt();
  const reason = Reason.REASON_RUNTIME_CONFIG;
  worker.send({ $case: "error", value: { reason, message: "The model is not to be had." } });
  const ended = await run.outcome();
  expect(ended).toMatchObject({ outcome: "FAILED", reason: "RUNTIME_CONFIG", message: "The model is not to be had." });
  const lines = log.filter((line) => line.includes(ended.turn.executionId) && line.includes("without a result"));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('"reason":"RUNTIME_CONFIG"');
});

/** Lets the next commit of a result fail. */
function failNextResult(error: Error): void {
  const { writer } = gateway().context.store;
  const execute = writer.execute.bind<Writer["execute"]>(writer);
  writer.execute = function <Input, Result>(command: Command<Input, Result>, input: Input): Promise<Result> {
    if (command.name !== commitResult.name) return execute(command, input);
    writer.execute = execute;
    return Promise.reject(error);
  };
}

test("A2-5 a store that cannot keep a result puts the outcome off, and one that fails otherwise ends its turn only", async () => {
  const { client, log } = gateway();
  failNextResult(new StorageError("full", "no room"));
  expect(await client.run("echo", "kept later").outcome()).toMatchObject({
    outcome: "COMPLETED",
    answer: "kept later",
  });
  expect(log.filter((line) => line.includes("trying again"))).toHaveLength(1);
  failNextResult(new Error("nobody expected this"));
  const run = client.run("echo", "said");
  const ended = await run.outcome();
  expect(ended).toMatchObject({ outcome: "FAILED", reason: "INTERNAL" });
  expect(ended.message).not.toContain("nobody expected this");
  expect(run.kinds.filter((kind) => kind === "turnEnded")).toHaveLength(1);
  expect((await client.say(await sessionOf(run), "goes on").outcome()).answer).toBe("goes on");
});
