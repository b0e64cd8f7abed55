import { chmodSync, mkdirSync, readFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Reason } from "../../src/gen/talaria/reason/v1/reason.js";
import { TurnResult } from "../../src/gen/talaria/types/v1/result.js";
import { RpcError } from "../../src/rpc/rpcError.js";
import { authenticate } from "../../src/worker/outbox.js";
import { untilBusy } from "../kit/untilBusy.js";
import { WORKER_MAIN } from "./launchedWorker.js";
import { useScriptedOwner } from "./useScriptedOwner.js";

const fixture = useScriptedOwner();
const grace = { orphanGrace: { seconds: 0n, nanos: 300_000_000 } };

test("F27 OW-R17 OW-R26 a worker whose owner is gone dies with its whole group after the grace, although its loop spins", async () => {
  const { worker, attachment } = await fixture.attach();
  attachment.bootstrap("!leave-child\n!spin 3600000", { budgets: grace });
  await attachment.until("child", () => (attachment.text.startsWith("child: ") ? { value: true } : undefined));
  await untilBusy(worker.child.pid ?? 0);
  worker.dropPipe();
  expect((await worker.exited()).signal).toBe("SIGKILL");
  await worker.groupGone();
  expect(worker.log).toContain("the grace is over");
  attachment.end();
});

test("F27 a worker whose owner is gone exits by itself once its turn has ended", async () => {
  const { worker, attachment } = await fixture.attach();
  attachment.bootstrap("!sleep 3600000");
  await attachment.next("ready");
  worker.dropPipe();
  const { result } = await attachment.next("result");
  expect(result?.interrupted).toBe(true);
  expect((await worker.exited()).code).toBe(74);
  attachment.end();
});

test("OW28 losing the stream ends the turn, and the result stays in the outbox, authenticated and without secrets", async () => {
  const { worker, attachment } = await fixture.attach();
  const directory = join(fixture.owner.directory, "outbox");
  mkdirSync(directory, { mode: 0o700 });
  const key = Buffer.alloc(32, 7);
  const bootstrap = attachment.bootstrap("said\n!sleep 3600000", { outbox: { directory, key } });
  await attachment.until("text", () => (attachment.text === "said" ? { value: true } : undefined));
  attachment.end(new RpcError("UNAVAILABLE"));
  expect((await worker.exited()).code).toBe(74);
  const file = readFileSync(join(directory, "result"));
  const body = file.subarray(32);
  expect(authenticate(key, bootstrap.executionId, body).equals(file.subarray(0, 32))).toBe(true);
  expect(TurnResult.decode(body)).toMatchObject({ finalResponse: "said", interrupted: true });
  expect(file.includes(bootstrap.assignmentSecret)).toBe(false);
});

test("OW28 the outbox is empty after finish, and an open one is refused", async () => {
  const { worker, attachment } = await fixture.attach();
  const directory = join(fixture.owner.directory, "outbox2");
  mkdirSync(directory, { mode: 0o700 });
  attachment.bootstrap("done", { outbox: { directory, key: Buffer.alloc(32, 7) } });
  await attachment.next("result");
  expect(existsSync(join(directory, "result"))).toBe(true);
  attachment.send({ $case: "finish", value: {} });
  await attachment.next("finished");
  attachment.end();
  expect((await worker.exited()).code).toBe(0);
  expect(existsSync(join(directory, "result"))).toBe(false);

  chmodSync(directory, 0o750);
  const second = await fixture.attach();
  second.attachment.bootstrap("done", { outbox: { directory, key: Buffer.alloc(32, 7) } });
  expect((await second.attachment.next("error")).reason).toBe(Reason.REASON_RUNTIME_CONFIG);
  second.attachment.end();
  expect((await second.worker.exited()).code).toBe(70);
});

test("OW-R18 a launcher that drops stdin is shown to the owner by an empty token, and the worker exits 71", async () => {
  const command = ["/bin/sh", "-c", `exec "${process.execPath}" "${WORKER_MAIN}" < /dev/null`] as const;
  const { worker, attachment } = await fixture.attach({ command: [...command] });
  expect((await attachment.next("hello")).token).toHaveLength(0);
  attachment.end(new RpcError("WORKER_LAUNCHER_DROPPED_STDIN"));
  expect((await worker.exited()).code).toBe(71);
  expect(worker.log).toContain("does not pass the launch pipe on");
});

test("OW05 OW-R19 a launcher that passes stdin on is one of the ancestors", async () => {
  const command = ["/bin/sh", "-c", `"${process.execPath}" "${WORKER_MAIN}"; exit $?`] as const;
  const { worker, attachment } = await fixture.attach({ command: [...command] });
  const hello = await attachment.next("hello");
  expect(hello.token.equals(worker.token)).toBe(true);
  expect(hello.ancestors[0]?.pid).toBe(worker.child.pid);
  attachment.bootstrap("!spin 3600000", { budgets: grace });
  await attachment.next("ready");
  await untilBusy(hello.process?.pid ?? 0);
  worker.dropPipe();
  expect((await worker.exited()).signal).toBe("SIGKILL");
  await worker.groupGone();
  attachment.end();
});

test("a refused worker exits 72, a released one 73", async () => {
  const refused = await fixture.attach();
  await refused.attachment.next("hello");
  refused.attachment.end(new RpcError("WORKER_TOKEN_INVALID"));
  expect((await refused.worker.exited()).code).toBe(72);

  const released = await fixture.attach();
  await released.attachment.next("hello");
  released.attachment.send({ $case: "close", value: { reason: 6, detail: 0, message: "idle" } });
  released.attachment.end();
  expect((await released.worker.exited()).code).toBe(73);
});
