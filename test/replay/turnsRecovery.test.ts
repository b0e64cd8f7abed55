import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";

import { homePaths } from "../../src/base/home.js";
import { isAlive, readProcess } from "../../src/base/processTable.js";
import { outboxFile, rowsOf, type ServeProcess } from "../kit/serveProcess.js";
import { sessionOf } from "../kit/turnClient.js";
import { launchesOf, processGone, useServe } from "../kit/useServe.js";
import { untilBusy } from "../kit/untilBusy.js";
import { waitUntil } from "../kit/waitFor.js";

const fixture = useServe();
const makeHome = (): string => fixture.home();
const serve = (home: string): Promise<ServeProcess> => fixture.serve(home);

test("OW-R2 OC-7 LG-5 A2-2 a gateway killed in the middle of a turn leaves one unknown outcome, and nothing runs again by itself", async () => {
  const home = makeHome();
  const first = await serve(home);
  const client = first.connect();
  const run = client.run("echo", "!deaf\n!say begun\n!sleep 60000");
  const sessionId = await sessionOf(run);
  const executionId = await run.started();
  await run.saw("begun");
  const watch = client.watch(sessionId);
  await watch.next("snapshot");
  for (const text of ["second", "third"]) await client.say(sessionId, text).next("inputQueued");
  const { cursor } = watch.items.at(-1) ?? {};
  const [worker] = launchesOf(home);
  await first.kill();

  const second = (await serve(home)).connect();
  expect(isAlive(readProcess(worker?.pid ?? 0))).toBe(false);
  const resumed = second.watch(sessionId, { cursor });
  await resumed.next("gap");
  const snapshot = await resumed.next("snapshot");
  expect(snapshot.running).toBeUndefined();
  expect(snapshot.queued.map(({ text }) => text)).toEqual(["second", "third"]);
  const inputs = rowsOf(home, "SELECT outcome, failure FROM inputs WHERE execution_id = ?", executionId);
  expect(inputs).toMatchObject([{ outcome: "unknown", failure: expect.stringContaining("OWNER_LOST") as string }]);
  expect(rowsOf(home, "SELECT 1 FROM executions")).toHaveLength(1);
  expect(launchesOf(home).filter(({ gone_at }) => gone_at === null)).toEqual([]);

  await second.acknowledge(sessionId, executionId);
  await resumed.until("both followers", () =>
    resumed.kinds.filter((kind) => kind === "turnEnded").length === 2 ? true : undefined,
  );
  expect(
    rowsOf<{ text: string }>(home, "SELECT text FROM messages WHERE role = 'assistant' ORDER BY row").map(
      ({ text }) => text,
    ),
  ).toEqual(["second", "third"]);
  await waitUntil("no outbox is left", () => readdirSync(homePaths(home).outboxesDir).length === 0);
});

test("OW-R1 OW-R11 OW28 MF-5 SY-6 a result that its worker had kept is settled by the next owner as what it was, and the next input runs", async () => {
  const home = makeHome();
  const first = await serve(home);
  const client = first.connect();
  const run = client.run("echo", "!say kept\n!sleep 500");
  const executionId = await run.started();
  await run.saw("kept");
  const follower = await client.say(await sessionOf(run), "follower").next("inputQueued");
  // The owner hears nothing more: its worker finishes alone.
  first.signal("SIGSTOP");
  await waitUntil("the worker has kept its result", () => existsSync(outboxFile(home, executionId)));
  await first.kill();
  const [worker] = launchesOf(home);
  const second = await serve(home);
  const { turn } = { turn: await second.connect().turn((await run.next("inputQueued")).turn?.inputId ?? "") };
  expect(turn).toMatchObject({ outcome: "COMPLETED", answer: "kept" });
  expect(existsSync(outboxFile(home, executionId))).toBe(false);
  await processGone(worker?.pid ?? 0);
  await waitUntil("the follower has run", () => {
    const { inputId = "" } = follower.turn ?? {};
    return rowsOf(home, "SELECT 1 FROM inputs WHERE input_id = ? AND outcome = 'completed'", inputId).length === 1;
  });
  expect((await second.connect().turn(follower.turn?.inputId ?? "")).answer).toBe("follower");
  const again = await second.connect().say(turn.turn.sessionId, "next").outcome();
  expect(again.answer).toBe("next");
});

test("OW-R11 a forged outbox is not believed", async () => {
  const home = makeHome();
  const first = await serve(home);
  const run = first.connect().run("echo", "!say kept\n!sleep 500");
  const executionId = await run.started();
  await run.saw("kept");
  first.signal("SIGSTOP");
  const file = outboxFile(home, executionId);
  await waitUntil("the worker has kept its result", () => existsSync(file));
  await first.kill();
  const bytes = readFileSync(file);
  // Still a well-formed result, so that only its authentication tells.
  bytes.write("fake", bytes.indexOf("kept"));
  writeFileSync(file, bytes);
  const second = await serve(home);
  const turn = await second.connect().turn((await run.next("inputQueued")).turn?.inputId ?? "");
  expect(turn).toMatchObject({ outcome: "UNKNOWN", reason: "OWNER_LOST" });
  expect(existsSync(file)).toBe(false);
});

test("OW-R17 F27 what a worker left in its group dies with its owner, also if it ignores SIGTERM", async () => {
  const home = makeHome();
  const first = await serve(home);
  const run = first.connect().run("echo", "!leave-child\n!say left\n!spin 60000");
  await run.saw("left");
  const [worker] = launchesOf(home);
  const group = worker?.pid ?? 0;
  const members = readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && readProcess(pid)?.processGroup === group);
  expect(members.length).toBeGreaterThan(1);
  await untilBusy(group);
  await first.kill();
  for (const pid of members) await processGone(pid);
});
