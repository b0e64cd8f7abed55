import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { homePaths } from "../../src/base/home.js";
import { EPOCHS_PASSED, RESTORED } from "../../src/store/backup/markRestored.js";
import { talaria } from "../cli/useTalaria.js";
import { send } from "../dm/calls.js";
import { rowsOf } from "../kit/serveProcess.js";
import { useServe } from "../kit/useServe.js";
import { refusalOf, sessionOf } from "../kit/turnClient.js";
import { waitUntil } from "../kit/waitFor.js";

// Each test starts several processes, one after another.
vi.setConfig({ testTimeout: 120_000 });

const fixture = useServe();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tb-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A peer that nobody answers for, so that messages to it wait. */
const PEERS = { east: { address: "127.0.0.1:1", pin: `sha256:${Buffer.alloc(32, 7).toString("base64url")}` } };

async function ok(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await talaria(...args);
  expect(code, stderr).toBe(0);
  return stdout;
}

function epochOf(home: string): number {
  return rowsOf<{ epoch: number }>(home, "SELECT max(epoch) AS epoch FROM epochs")[0]?.epoch ?? 0;
}

test("a backup that is made under load is one moment of the home, private, and whole", async () => {
  const home = fixture.home();
  const gateway = await fixture.serve(home);
  const { client } = gateway.connect();
  const load = { on: true };
  let sent = 0;
  const writing = (async () => {
    for (; load.on && sent < 60; sent += 1)
      await send(client, { target: "agent:echo", body: `message ${String(sent)}` });
  })();
  await waitUntil(
    "messages are sent",
    () => sent > 20,
    () => sent,
  );
  const file = join(folder, "home.tar.gz");
  const saved = JSON.parse(await ok("--json", "--home", home, "backup", file)) as { epoch: number; homeId: string };
  load.on = false;
  await writing;
  const audit = readFileSync(join(homePaths(home).logsDir, "audit.jsonl"), "utf8");
  expect(audit).toMatch(/"who":"client:[^"]+".*"what":"\/talaria.gateway.v1.AdminService\/Backup","outcome":"OK"/);
  expect(readdirSync(homePaths(home).backupsDir)).toEqual([]);

  expect(saved).toMatchObject({ epoch: 1, homeId: expect.stringMatching(/^[0-9a-f]{32}$/) as string });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const again = await talaria("--home", home, "backup", file);
  expect(again.stderr).toContain("there already");
  expect(again.code).toBe(73);

  const restored = join(folder, "home");
  await ok("--home", restored, "restore", file);
  expect(rowsOf(restored, "PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
  expect(rowsOf(restored, "PRAGMA foreign_key_check")).toEqual([]);
  const [totals] = rowsOf<{ accepted: number }>(restored, "SELECT accepted FROM delivery_totals");
  expect(rowsOf(restored, "SELECT 1 FROM deliveries")).toHaveLength(totals?.accepted ?? -1);
  expect(totals?.accepted).toBeGreaterThan(20);
  expect(rowsOf(restored, "SELECT admitted - (SELECT COUNT(*) FROM inputs) AS missing FROM turn_totals")).toEqual([
    { missing: 0 },
  ]);
  for (const name of ["talaria.yaml", "agents/echo/agent.yaml", "tls/identity.key"]) {
    expect(readFileSync(join(restored, name))).toEqual(readFileSync(join(home, name)));
  }
  expect(statSync(join(restored, "tls/identity.key")).mode & 0o777).toBe(0o600);
  // By another id, peers see that it does not remember what they were told since.
  const storeIds = [home, restored].map((of) => rowsOf(of, "SELECT value FROM meta WHERE key = 'store_id'"));
  expect(storeIds[0]).not.toEqual(storeIds[1]);
  expect(existsSync(join(restored, "run"))).toBe(false);
});

test("a home that nobody serves is saved by its files, without a name in its own folder", async () => {
  const home = fixture.home();
  expect((await talaria("--home", home, "backup")).code).toBe(66);
  await (await fixture.serve(home)).stop();
  const { file } = JSON.parse(await ok("--json", "--home", home, "backup")) as { file: string };
  expect(readdirSync(homePaths(home).backupsDir).map((name) => join(homePaths(home).backupsDir, name))).toEqual([file]);
  await ok("--home", join(folder, "home"), "restore", file);
  expect(existsSync(join(folder, "home", "backups"))).toBe(false);
  const nowhere = await talaria("--home", home, "backup", join(folder, "nowhere", "x"));
  expect(nowhere).toMatchObject({ code: 66, stderr: expect.stringContaining("ENOENT") as string });
  const address = await talaria("--address", "127.0.0.1:1", "backup", join(folder, "x"));
  expect(address).toMatchObject({ code: 64, stderr: expect.stringContaining("in its own home") as string });
});

test("a home that nobody serves keeps as many backups as it says, and all of them where it cannot be understood", async () => {
  const home = fixture.home({}, { config: { backups: { keep: 1 } } });
  await (await fixture.serve(home)).stop();
  const names = () => readdirSync(homePaths(home).backupsDir);
  const backup = async () => JSON.parse(await ok("--json", "--home", home, "backup")) as { removed: string[] };
  expect(await backup()).toMatchObject({ removed: [] });
  const [first = ""] = names();
  expect(await backup()).toMatchObject({ removed: [first] });
  const [second = "", ...more] = names();
  expect([first === second, more]).toEqual([false, []]);
  await ok("--home", home, "backup", join(folder, "elsewhere.tar.gz"));
  expect(names()).toEqual([second]);
  writeFileSync(homePaths(home).configFile, "backups: { kep: 1 }\n");
  const wrong = await talaria("--home", home, "backup");
  expect(wrong).toMatchObject({ code: 0, stderr: expect.stringContaining("No older backup was removed") as string });
  expect(names()).toHaveLength(2);
});

test("a restored home has a later epoch than the saved one ever had, and what was queued waits for a person", async () => {
  const home = fixture.home({}, { maxWorkers: 1, config: { peers: PEERS } });
  const gateway = await fixture.serve(home);
  const client = gateway.connect();
  const running = client.run("echo", "!sleep 60000");
  await running.started();
  const waiting = client.run("echo", "waits for a slot");
  const sessions = [await sessionOf(running), await sessionOf(waiting)] as const;
  const { delivery } = await send(client.client, { target: "east", body: "to another gateway" });
  const file = join(folder, "home.tar.gz");
  await ok("--home", home, "backup", file);

  const restored = join(folder, "home");
  const { code, stdout, stderr } = await talaria("--json", "--home", restored, "restore", file);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain("Never serve both");
  const told = JSON.parse(stdout) as { epoch: number; heldDestinations: string[]; pausedSessions: string[] };
  expect(told).toMatchObject({ epoch: 1 + EPOCHS_PASSED, heldDestinations: ["east"] });
  expect([...told.pausedSessions].sort()).toEqual([...sessions].sort());

  const back = (await fixture.serve(restored)).connect();
  expect(epochOf(restored)).toBe(2 + EPOCHS_PASSED);
  const [destination] = JSON.parse(await ok("--json", "--home", restored, "destinations", "list")) as object[];
  expect(destination).toMatchObject({ name: "east", heldBy: "restore" });
  const states = rowsOf(restored, "SELECT state FROM deliveries WHERE delivery_id = ?", delivery.deliveryId);
  expect(states).toEqual([{ state: "queued" }]);
  expect(rowsOf(restored, "SELECT 1 FROM executions WHERE epoch > 1")).toEqual([]);

  const other = `exe_${"1".repeat(26)}`;
  expect(await refusalOf(back.acknowledge(sessions[1], other))).toBe("OUTCOME_NOT_UNKNOWN");
  await back.acknowledge(sessions[1], RESTORED);
  const inputs = () => rowsOf(restored, "SELECT state FROM inputs WHERE session_id = ?", sessions[1]);
  await waitUntil("it is answered", () => JSON.stringify(inputs()) === '[{"state":"ended"}]', inputs);
  await ok("--home", restored, "destinations", "release", "east");
  // The home that was saved runs on: its worker is none of the restored one's.
  expect(rowsOf(home, "SELECT 1 FROM executions WHERE state = 'adopted'")).toHaveLength(1);
});

test.each([
  ["a folder that is not empty", "home", "is not empty"],
  ["no backup", "fresh", "cannot be restored"],
])("restore refuses %s and leaves nothing", async (_what, name, problem) => {
  const file = join(folder, "file");
  writeFileSync(file, "no archive");
  if (name === "home") writeFileSync(join(folder, "fresh"), "");
  const target = name === "home" ? folder : join(folder, name);
  const { code, stderr } = await talaria("--home", target, "restore", file);
  expect(code).not.toBe(0);
  expect(stderr).toContain(problem);
  if (name === "fresh") expect(existsSync(homePaths(target).root)).toBe(false);
});
