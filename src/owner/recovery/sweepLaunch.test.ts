import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";

import { BACKGROUND_MARK } from "../../base/backgroundMark.js";
import { systemClock } from "../../base/clock.js";
import { silentLogger } from "../../base/logger.js";
import { isAlive, readProcess, systemProcessTable } from "../../base/processTable.js";
import { systemRandom } from "../../base/random.js";
import { passingTracer } from "../../rpc/tracing/passingTracer.js";
import type { Store } from "../../store/store.js";
import type { tempHome } from "../../store/testing/tempHome.js";
import { useStore } from "../../store/testing/useStore.js";
import { recordLaunch } from "../../store/turns/recordLaunch.js";
import { LAUNCH_MARK, readMarks } from "../launch/launchMark.js";
import { recover } from "./recover.js";

const MARK = "lau_left";
let home: ReturnType<typeof tempHome>;
let store: Store;
const left: number[] = [];
const { restart } = useStore((opened, at) => {
  store = opened;
  home = at;
});
afterEach(() => {
  for (const pid of left.splice(0)) if (isAlive(readProcess(pid))) process.kill(pid, "SIGKILL");
});

interface Orphan {
  readonly leader: number;
  readonly leaderBirth: bigint;
  readonly survivor: number;
}

/** A group whose leader has ended and in which one process lives on, started with these variables. */
function orphan(mark: string): Promise<Orphan> {
  return leave("sleep 1000 >/dev/null & echo $!", { [LAUNCH_MARK]: mark });
}

/** A launch whose leader has ended, and of which one process lives on in a session of its own. */
function escapee(variables: Readonly<Record<string, string>>): Promise<Orphan> {
  return leave(`setsid sh -c 'echo $$; exec sleep 1000 >/dev/null' &`, variables);
}

/** @param script starts a process and says its pid */
async function leave(script: string, variables: Readonly<Record<string, string>>): Promise<Orphan> {
  const child: ChildProcess = spawn("/bin/sh", ["-c", `${script}\nread line`], {
    detached: true,
    env: { PATH: process.env["PATH"], ...variables },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const [line] = (await once(child.stdout?.setEncoding("utf8") ?? child, "data")) as [string];
  const leader = child.pid ?? 0;
  const leaderBirth = readProcess(leader)?.birthTicks ?? 0n;
  child.stdin?.end("\n");
  await once(child, "exit");
  const survivor = Number(line.trim());
  left.push(survivor);
  expect(isAlive(readProcess(survivor))).toBe(true);
  return { leader, leaderBirth, survivor };
}

async function record({ leader, leaderBirth }: Orphan): Promise<void> {
  await store.writer.execute(recordLaunch, {
    launchId: MARK,
    epoch: store.epoch,
    pid: leader,
    birth: leaderBirth.toString(),
    bootId: systemProcessTable.bootId(),
    processGroup: leader,
    now: 1,
  });
}

async function restartAndRecover(): Promise<void> {
  await restart();
  await recover({
    store,
    clock: systemClock,
    table: systemProcessTable,
    marksOf: readMarks,
    log: silentLogger(),
    tracer: passingTracer(systemRandom),
    outboxesDir: home.paths.outboxesDir,
    effects: () => undefined,
    unknownOutcome: () => undefined,
  });
}

const launch = () =>
  store.reader.get<{ gone_at: number | null; unproved: string | null }>("SELECT gone_at, unproved FROM launches");

test.runIf(process.platform === "linux")(
  "a survivor whose leader and worker are gone is ended where it bears the launch's mark",
  async () => {
    const one = await orphan(MARK);
    await record(one);
    await restartAndRecover();
    expect(isAlive(readProcess(one.survivor))).toBe(false);
    expect(launch()?.gone_at).not.toBeNull();
  },
);

test.runIf(process.platform === "linux")(
  "a stranger in a group of that number is never signalled; the record stays open until nobody is there",
  async () => {
    const stranger = await orphan("lau_other");
    await record(stranger);
    await restartAndRecover();
    expect(isAlive(readProcess(stranger.survivor))).toBe(true);
    const { gone_at: goneAt, unproved } = launch() ?? {};
    expect(goneAt).toBeNull();
    expect(JSON.parse(unproved ?? "[]")).toMatchObject([{ pid: stranger.survivor, session: stranger.leader }]);
    process.kill(stranger.survivor, "SIGKILL");
    await restartAndRecover();
    expect(launch()?.gone_at).not.toBeNull();
  },
);

test.runIf(process.platform === "linux")(
  "a process older than the launch is not of it, whatever it bears",
  async () => {
    const older = await orphan(MARK);
    await record({ ...older, leaderBirth: older.leaderBirth + 1_000_000n });
    await restartAndRecover();
    expect(isAlive(readProcess(older.survivor))).toBe(true);
    expect(launch()?.gone_at).toBeNull();
  },
);

test.runIf(process.platform === "linux")(
  "what has left the group of a launch is ended by its mark, and the record is closed",
  async () => {
    const one = await escapee({ [LAUNCH_MARK]: MARK });
    await record(one);
    await restartAndRecover();
    expect(isAlive(readProcess(one.survivor))).toBe(false);
    expect(launch()?.gone_at).not.toBeNull();
  },
);

test.runIf(process.platform === "linux").each([
  ["another launch has started", { [LAUNCH_MARK]: "lau_other" }],
  ["is meant to stay", { [LAUNCH_MARK]: MARK, [BACKGROUND_MARK]: "bg_1" }],
])("what %s is left alone, and holds up no record", async (_name, variables) => {
  const one = await escapee(variables);
  await record(one);
  await restartAndRecover();
  expect(isAlive(readProcess(one.survivor))).toBe(true);
  expect(launch()?.gone_at).not.toBeNull();
});
