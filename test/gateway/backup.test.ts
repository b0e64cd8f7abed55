import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";

import { type Clock, systemClock } from "../../src/base/clock.js";
import type { DiskUse } from "../../src/base/diskUse.js";
import { homePaths } from "../../src/base/home.js";
import { createServeRooms } from "../../src/gateway/createServeRooms.js";
import { STAGE_PREFIX } from "../../src/gateway/storage/backupFormat.js";
import { BACKUP_REPORT_MS } from "../../src/gateway/storage/backupMethod.js";
import { DISK_LOOK_MS } from "../../src/gateway/storage/storageGuard.js";
import { AdminServiceService, type BackupResponse } from "../../src/gen/talaria/gateway/v1/admin_service.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { RpcError } from "../../src/rpc/rpcError.js";
import { writeHome } from "../kit/homeFiles.js";
import { StreamLog } from "../kit/streamLog.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitFor, waitUntil } from "../kit/waitFor.js";
import { useGateway } from "./useGateway.js";

const gateway = useTestGateway();

/** Asks for a backup. */
function backup(client = gateway().client.client, name = "home.tar.gz", takenAway = false) {
  const stream = readStream(client, AdminServiceService.backup, { requestId: `r-${name}`, name, takenAway });
  return { stream, log: new StreamLog<BackupResponse>(({ step }) => step?.$case).follow(stream) };
}

/** Why one was refused or given up. */
async function refusal({ log }: ReturnType<typeof backup>): Promise<string> {
  const error = await log.ended();
  if (!(error instanceof RpcError)) throw new Error("it was not refused", { cause: error });
  return error.reason;
}

async function doneOf({ log }: ReturnType<typeof backup>) {
  const { step } = await log.first("the end", (one) => one.step?.$case === "done");
  if (step?.$case !== "done") throw new Error("there was no end");
  return step.value;
}

/** Puts a tar before the system's that never comes to its end. */
function waitingTar(): void {
  const folder = mkdtempSync(join(tmpdir(), "tar-"));
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });
  const gate = join(folder, "gate");
  expect(spawnSync("mkfifo", [gate]).status).toBe(0);
  writeFileSync(join(folder, "tar"), `#!/bin/sh\nread line < "${gate}"\n`, { mode: 0o755 });
  vi.stubEnv("PATH", `${folder}:${process.env["PATH"] ?? ""}`);
}

/** Makes a backup of the home take a while: so many bytes that cannot be compressed. */
function addBulk(home: string): void {
  const folder = join(home, "agents", "echo", "workspace");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "bulk"), randomBytes(64 * 1_048_576));
}

test("the gateway saves its home in its own folder, says how far it is, and overwrites nothing", async () => {
  const { home } = gateway();
  const made = backup();
  const done = await doneOf(made);
  expect(done).toMatchObject({ path: join(home, "backups", "home.tar.gz"), epoch: 1n, format: 1 });
  expect(done.bytes).toBe(BigInt(statSync(done.path).size));
  expect(statSync(done.path).mode & 0o777).toBe(0o600);
  expect(made.log.items.map(({ step }) => step?.$case)).toContain("progress");
  expect(await refusal(backup())).toBe("ALREADY_EXISTS");
  const audit = readFileSync(join(homePaths(home).logsDir, "audit.jsonl"), "utf8");
  expect(audit).toContain('"what":"/talaria.gateway.v1.AdminService/Backup","outcome":"ALREADY_EXISTS"');
});

test.each(["", "../home.tar.gz", "a/b", ".hidden", "x".repeat(129), "a\nb"])("no file is named %j", async (name) => {
  expect(await refusal(backup(undefined, name))).toBe("INVALID_FIELD");
});

test("one runs at a time; one whose caller goes leaves nothing, and the next one is made", async () => {
  const { home } = gateway();
  waitingTar();
  const first = backup(undefined, "first");
  await first.log.first("a report", ({ step }) => step?.$case === "progress");
  expect(await refusal(backup(undefined, "second"))).toBe("FAILED_PRECONDITION");
  // Turns go on meanwhile.
  expect(await gateway().client.run("echo", "goes on").outcome()).toMatchObject({ answer: "goes on" });
  first.stream.cancel();
  const names = () => readdirSync(join(home, "backups"));
  await waitUntil("nothing is left of it", () => names().join() === "home.tar.gz", names);
  vi.unstubAllEnvs();
  const again = await doneOf(backup(undefined, "third"));
  expect(again.bytes).toBe(BigInt(statSync(join(home, "backups", "third")).size));
});

test("none is made where the disk has no room for it, and one that fills the disk is given up", async () => {
  const home = writeHome();
  const leftover = join(home, "backups", `${STAGE_PREFIX}of-a-gateway-that-was-killed`);
  mkdirSync(leftover, { recursive: true, mode: 0o700 });
  writeFileSync(join(leftover, "state.db"), "");
  let use: DiskUse = { usedBytes: 96, freeBytes: 4 };
  const clock: Clock = {
    ...systemClock,
    after: (ms, run) => systemClock.after(ms === DISK_LOOK_MS || ms === BACKUP_REPORT_MS ? 10 : ms, run),
  };
  const { client, gateway: served } = await useGateway({
    home,
    clock,
    logDestination: { write: () => undefined },
    measureDisk: () => Promise.resolve(use),
    rooms: createServeRooms,
  });
  onTestFinished(async () => {
    await served.close();
    rmSync(home, { recursive: true, force: true });
  });
  expect(existsSync(leftover)).toBe(false);
  expect(await refusal(backup(client, "full"))).toBe("STORAGE_FULL");
  addBulk(home);
  use = { usedBytes: 1, freeBytes: 10 ** 12 };
  await waitFor("the disk has room", async () => {
    const { problems } = await unaryCall(client, AdminServiceService.getStatus, {});
    return problems.length === 0 ? { found: true } : { state: problems };
  });
  const filling = backup(client, "filling");
  await filling.log.first("a report", ({ step }) => step?.$case === "progress");
  use = { usedBytes: 96, freeBytes: 4 };
  expect(await refusal(filling)).toBe("STORAGE_FULL");
  expect(readdirSync(join(home, "backups"))).toEqual([]);
});

test("as many backups stay as are configured, and nothing else in the folder is touched", async () => {
  const home = writeHome({ config: { backups: { keep: 2 } } });
  onTestFinished(() => {
    rmSync(home, { recursive: true, force: true });
  });
  const { client } = await useGateway({ home, logDestination: { write: () => undefined }, rooms: createServeRooms });
  const folder = join(home, "backups");
  const secret = join(home, "talaria.yaml");
  const nameOf = (number: number): string => `home-20260101T00000${String(number)}Z-00000${String(number)}.tar.gz`;
  const made = (name: string, takenAway = false) => doneOf(backup(client, name, takenAway));

  expect(await made("nightly")).toMatchObject({ removed: [] });
  expect(await made(nameOf(1))).toMatchObject({ removed: [] });
  const theirs = ["home-20200101T000000Z-aaaaaa.tar.gz", "home-20200101T000001Z-aaaaaa.tar.gz", "nightly"];
  writeFileSync(join(folder, theirs[0] ?? ""), "not a backup");
  symlinkSync(secret, join(folder, theirs[1] ?? ""));
  expect(await made(nameOf(2))).toMatchObject({ removed: [] });
  expect(await made(nameOf(3))).toMatchObject({ removed: [nameOf(1)] });
  // One that is taken away, or has a name of its own, takes no other's place.
  expect(await made(nameOf(4), true)).toMatchObject({ removed: [] });
  rmSync(join(folder, nameOf(4)));
  expect(await made("weekly")).toMatchObject({ removed: [] });
  expect(readdirSync(folder).sort()).toEqual([...theirs, nameOf(2), nameOf(3), "weekly"].sort());
  expect(existsSync(secret)).toBe(true);
});
