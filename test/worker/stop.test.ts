import { expect, test } from "vitest";
import { StopCause } from "../../src/gen/talaria/owner/v1/owner_service.js";
import { Reason } from "../../src/gen/talaria/reason/v1/reason.js";
import { TurnExit } from "../../src/gen/talaria/types/v1/result.js";
import type { Attachment } from "./scriptedOwner.js";
import type { LaunchedWorker } from "./launchedWorker.js";
import { useScriptedOwner } from "./useScriptedOwner.js";

const fixture = useScriptedOwner();
const stop = { $case: "stop", value: { cause: StopCause.STOP_CAUSE_CLIENT } } as const;

async function finish(worker: LaunchedWorker, attachment: Attachment): Promise<void> {
  attachment.send({ $case: "finish", value: {} });
  await attachment.next("finished");
  attachment.end();
  expect(await worker.exited()).toEqual({ code: 0, signal: null });
}

test("F15 a stop that comes before ready starts nothing and gives an interrupted result without text", async () => {
  const { worker, attachment } = await fixture.attach();
  await attachment.next("hello");
  attachment.send(stop);
  attachment.bootstrap("never said\n!crash");
  await attachment.next("ready");
  const { result } = await attachment.next("result");
  expect(result).toMatchObject({ interrupted: true, completed: false, finalResponse: "" });
  expect(result?.turnExitReason).toBe(TurnExit.TURN_EXIT_STOPPED);
  expect(attachment.kinds).not.toContain("events");
  await finish(worker, attachment);
});

test("a stop during the turn ends it with what was said; a second one changes nothing", async () => {
  const { worker, attachment } = await fixture.attach();
  attachment.bootstrap("so far\n!sleep 3600000\nnever said");
  await attachment.until("text", () => (attachment.text === "so far" ? { value: true } : undefined));
  attachment.send(stop);
  attachment.send(stop);
  const { result } = await attachment.next("result");
  expect(result).toMatchObject({ interrupted: true, partial: true, completed: false, finalResponse: "so far" });
  await finish(worker, attachment);
});

test("OW-R28 a deaf turn ignores a stop", async () => {
  const { worker, attachment } = await fixture.attach();
  attachment.bootstrap("!deaf\nlistening\n!approve rm -rf /\n!tool late {} => no");
  await attachment.next("approval");
  attachment.send(stop);
  const settled = await attachment.next("promptSettled");
  expect(settled.end).toBe(3);
  // Deaf or not, no further tool starts after Stop.
  const { result } = await attachment.next("result");
  expect(result?.interrupted).toBe(true);
  expect(result?.finalResponse).toContain("denied: stopped");
  expect(attachment.frames.flatMap(({ frame }) => (frame?.$case === "events" ? frame.value.events : []))).toSatisfy(
    (events: { event?: { $case: string } }[]) => events.every(({ event }) => event?.$case !== "toolStarted"),
  );
  await finish(worker, attachment);
});

test("F16 a deaf turn that sleeps runs on after a stop until it is killed", async () => {
  const { worker, attachment } = await fixture.attach();
  attachment.bootstrap("!deaf\ndeaf now\n!sleep 3600000", {
    budgets: { heartbeat: { seconds: 0n, nanos: 50_000_000 } },
  });
  await attachment.until("text", () => (attachment.text === "deaf now" ? { value: true } : undefined));
  attachment.send(stop);
  await attachment.next("heartbeat");
  await attachment.next("heartbeat");
  expect(attachment.kinds).not.toContain("result");
  worker.dispose();
  expect((await worker.exited()).signal).toBe("SIGKILL");
});

test("a turn that hangs on a child dies with it when its group is killed", async () => {
  const { worker, attachment } = await fixture.attach();
  attachment.bootstrap("!hang-child");
  await attachment.until("child", () => (attachment.text.startsWith("child: ") ? { value: true } : undefined));
  attachment.send(stop);
  process.kill(-(worker.child.pid ?? 0), "SIGKILL");
  await worker.groupGone();
});

test("a crash ends the process as asked", async () => {
  const { worker, attachment } = await fixture.attach();
  attachment.bootstrap("!crash 3");
  expect(await worker.exited()).toEqual({ code: 3, signal: null });
  const second = await fixture.attach();
  second.attachment.bootstrap("!crash SIGABRT");
  expect((await second.worker.exited()).signal).toBe("SIGABRT");
  attachment.end();
  second.attachment.end();
});

test("OW56 F34 what a runtime throws becomes an error frame without a stack or a secret, and exit 70", async () => {
  const { worker, attachment } = await fixture.attach();
  attachment.bootstrap("!error it broke with hunter2secret", {
    credentials: [{ name: "key", secret: "hunter2secret" }],
  });
  const error = await attachment.next("error");
  expect(error).toEqual({ reason: Reason.REASON_RUNTIME_FAILED, message: "it broke with [redacted]" });
  attachment.end();
  expect(await worker.exited()).toEqual({ code: 70, signal: null });
  expect(worker.log).not.toContain("hunter2secret");
});
