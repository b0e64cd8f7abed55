import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { FakeClock } from "../base/testing/fakeClock.js";
import { openDatabase } from "./database.js";
import { HomeLockedError } from "./homeLockedError.js";
import { HomeTooNewError } from "./homeTooNewError.js";
import { migrate, schemaVersion } from "./migrate.js";
import { migrations } from "./migrations/index.js";
import { listEpochs } from "./testing/listEpochs.js";
import { openStore } from "./store.js";
import { addNote, createNotes, noteTexts } from "./testing/notes.js";
import { tempHome } from "./testing/tempHome.js";

let home: ReturnType<typeof tempHome>;
beforeEach(() => {
  home = tempHome();
});
afterEach(() => {
  home.remove();
});

/** Starts the process that writes notes, until `count` were acknowledged. */
async function writeElsewhere(count: number) {
  const script = fileURLToPath(new URL("testing/notesProcess.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", script, home.paths.root], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  let output = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => (output += text));
  const acknowledged = (): string[] => output.split("\n").slice(0, -1);
  await expect.poll(() => acknowledged().length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count);
  const kill = async (): Promise<string[]> => {
    child.kill("SIGKILL");
    await exit;
    return acknowledged();
  };
  return { pid: child.pid, kill };
}

test("DM061 each start raises the epoch; the home keeps its id and key; files are private", async () => {
  const clock = new FakeClock(5_000);
  const first = await openStore(home.paths, { clock });
  const folder = dirname(home.paths.database);
  const modes = readdirSync(folder)
    .filter((name) => /\.db/.test(name))
    .map((name) => [name, statSync(join(folder, name)).mode & 0o777]);
  expect(modes.length).toBeGreaterThanOrEqual(3);
  expect(modes).toEqual(modes.map(([name]) => [name, 0o600]));
  await first.close();
  const second = await openStore(home.paths, { clock });
  expect([first.epoch, second.epoch]).toEqual([1, 2]);
  expect(first.homeId).toMatch(/^[0-9a-f]{32}$/);
  expect(second.homeId).toBe(first.homeId);
  expect(second.homeKey).toHaveLength(32);
  expect(Buffer.compare(second.homeKey, first.homeKey)).toBe(0);
  expect(listEpochs(second.reader, 10)).toMatchObject([
    { epoch: 2, startedAtMs: 5_000, pid: process.pid },
    { epoch: 1, startedAtMs: 5_000, pid: process.pid },
  ]);
  await second.close();
});

test("a snapshot sees one state, and the reader cannot write", async () => {
  const store = await openStore(home.paths);
  await store.writer.execute(createNotes, null);
  await store.writer.execute(addNote, { text: "a" });
  expect(store.reader.snapshot((at) => [noteTexts(at), store.reader.snapshot(noteTexts)])).toEqual([["a"], ["a"]]);
  expect(() =>
    store.reader.snapshot(() => {
      throw new Error("mine");
    }),
  ).toThrow("mine");
  expect(() => store.reader.all("INSERT INTO notes (text) VALUES ('b') RETURNING id")).toThrow(/cannot be used/);
  await store.close();
});

describe("the home's lock", () => {
  test("a second holder in this process is refused and named, and the home is free after close", async () => {
    const store = await openStore(home.paths);
    await expect(openStore(home.paths)).rejects.toMatchObject({ name: "HomeLockedError", holderPid: process.pid });
    await store.close();
    await (await openStore(home.paths)).close();
  });

  test("AD-2 a second gateway is refused until the first was killed; every acknowledged row survives that", async () => {
    const writer = await writeElsewhere(200);
    const refused = await openStore(home.paths).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(HomeLockedError);
    expect(refused).toMatchObject({ holderPid: writer.pid });
    const acknowledged = await writer.kill();
    const store = await openStore(home.paths);
    const kept = noteTexts(store.reader);
    expect(store.epoch).toBe(2);
    expect(kept.slice(0, acknowledged.length)).toEqual(acknowledged);
    expect(kept).toEqual(kept.map((_, index) => String(index)));
    await store.close();
  });
});

describe("the schema", () => {
  test("a database of a later release is refused untouched, and the lock is let go", async () => {
    await (await openStore(home.paths)).close();
    const database = openDatabase(home.paths.database);
    database.exec("PRAGMA user_version = 9999");
    database.close();
    const copy = `${home.paths.database}.copy`;
    copyFileSync(home.paths.database, copy);
    for (const _ of [1, 2]) {
      await expect(openStore(home.paths)).rejects.toMatchObject({
        name: HomeTooNewError.name,
        found: 9999,
        known: migrations.length,
      });
    }
    expect(readFileSync(home.paths.database).equals(readFileSync(copy))).toBe(true);
  });

  test("a step that fails leaves the schema of the step before", () => {
    const database = openDatabase(home.paths.database);
    const good = { version: 1, name: "good", sql: "CREATE TABLE a (x)" };
    const bad = { version: 2, name: "bad", sql: "CREATE TABLE b (x); INSERT INTO nowhere VALUES (1)" };
    expect(() => migrate(database, [good, bad])).toThrow(/nowhere/);
    expect(schemaVersion(database)).toBe(1);
    expect(database.prepare("SELECT name FROM sqlite_schema").all()).toMatchObject([{ name: "a" }]);
    const repaired = { ...bad, sql: "CREATE TABLE b (x)" };
    expect(migrate(database, [good, repaired])).toEqual([repaired]);
    expect(migrate(database, [good, repaired])).toEqual([]);
    database.close();
  });

  test("steps are numbered from 1 without a gap", () => {
    const database = openDatabase(home.paths.database);
    expect(() => migrate(database, [{ version: 2, name: "late", sql: "" }])).toThrow(/version 2, not 1/);
    expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1));
    database.close();
  });

  test("a file that is no database is a typed failure", async () => {
    writeFileSync(home.paths.database, "x".repeat(8_192));
    await expect(openStore(home.paths)).rejects.toMatchObject({ name: "StorageError", kind: "unavailable" });
  });
});
