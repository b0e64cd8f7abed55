import { expect, test } from "vitest";

import { isAlive, readProcess } from "../../src/base/processTable.js";
import { TurnPhase } from "../../src/gen/talaria/gateway/v1/turn_service.js";
import { rowsOf, type ServeProcess } from "../kit/serveProcess.js";
import { refusalOf, sessionOf } from "../kit/turnClient.js";
import { launchesOf, useServe } from "../kit/useServe.js";

const fixture = useServe();
const makeHome = (): string => fixture.home();
const serve = (home: string): Promise<ServeProcess> => fixture.serve(home);

test("OC-12 OC-14 the prompt of a turn whose gateway was killed is withdrawn; its answer is told so", async () => {
  const home = makeHome();
  const first = await serve(home);
  const run = first.connect().run("echo", "!approve rm");
  const { promptId } = await run.next("promptRaised");
  const sessionId = await sessionOf(run);
  await first.kill();
  const second = (await serve(home)).connect();
  expect(await second.prompts(sessionId)).toEqual([]);
  expect(await refusalOf(second.choose(promptId, 1))).toBe("PROMPT_ALREADY_RESOLVED");
});

test("MF-1 A2-7 after a restart an ended turn is replayed by its key and nothing runs again", async () => {
  const home = makeHome();
  const first = await serve(home);
  const requestId = "one-key";
  const ended = await first.connect().run("echo", "once", { requestId }).outcome();
  await first.kill();
  const second = (await serve(home)).connect();
  const again = second.run("echo", "once", { requestId });
  expect((await again.outcome()).turn).toEqual({ ...ended.turn, phase: TurnPhase.TURN_PHASE_FINISHED });
  expect(await refusalOf(second.run("echo", "twice", { requestId }))).toBe("REQUEST_CONFLICT");
  expect(rowsOf(home, "SELECT 1 FROM executions")).toHaveLength(1);
});

test("OW-R33 a gateway killed while it drains leaves only the turn unknown that had not ended", async () => {
  const home = fixture.home({ drainMs: 20_000 });
  const first = await serve(home);
  const client = first.connect();
  const short = client.run("echo", "!ask Go on?");
  const long = client.run("echo", "!deaf\n!say l\n!sleep 60000");
  const { promptId } = await short.next("promptRaised");
  await long.saw("l");
  await client.run("echo", "ended before").outcome();
  first.signal("SIGTERM");
  await first.log.first("word of the drain", (line) => line.includes("drain"));
  await client.reply(promptId, "yes");
  await short.outcome();
  await first.kill();
  await serve(home);
  const outcomes = rowsOf<{ outcome: string }>(home, "SELECT outcome FROM inputs ORDER BY sequence");
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(["completed", "unknown", "completed"]);
});

test("OW-R32 OC-11 SIGTERM lets a turn end, stops the one that does not, and leaves nothing behind", async () => {
  const home = fixture.home({ exitAfterFinishedMs: 1_000, stopTotalMs: 2_000, drainMs: 2_000 });
  const first = await serve(home);
  const client = first.connect();
  const [short, long] = [
    client.run("echo", "!say s\n!sleep 700\n!say end"),
    client.run("echo", "!say l\n!sleep 60000"),
  ];
  await Promise.all([short.saw("s"), long.saw("l")]);
  short.cancel();
  expect(await first.stop()).toBe(0);
  const outcomes = rowsOf<{ text: string; outcome: string }>(
    home,
    "SELECT text, outcome FROM inputs ORDER BY sequence",
  );
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(["completed", "interrupted"]);
  expect(launchesOf(home).filter(({ gone_at }) => gone_at === null)).toEqual([]);
  for (const { pid } of launchesOf(home)) expect(isAlive(readProcess(pid))).toBe(false);
});
