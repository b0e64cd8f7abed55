import { readFileSync } from "node:fs";

import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { StorageError } from "../base/storageError.js";
import { defineCommand } from "./command.js";
import type { Store, StoreOptions } from "./store.js";
import { openStore } from "./store.js";
import { addNote, clearNotes, createNotes, noteTexts } from "./testing/notes.js";
import { tempHome } from "./testing/tempHome.js";
import type { CommitReport } from "./writer.js";

let home: ReturnType<typeof tempHome>;
let store: Store | undefined;
beforeEach(() => {
  home = tempHome();
});
afterEach(async () => {
  await store?.close();
  store = undefined;
  home.remove();
});

async function open(options: StoreOptions = {}): Promise<Store> {
  store = await openStore(home.paths, { copyData: true, ...options });
  await store.writer.execute(createNotes, null);
  return store;
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.unreachable("it was kept"),
    (error: unknown) => error,
  );
}

describe("group commit", () => {
  test("commands of one turn share a commit; a lone one has its own", async () => {
    const { writer, reader } = await open();
    const reports: CommitReport[] = [];
    const stop = writer.onCommit((report) => reports.push(report));
    await Promise.all(Array.from({ length: 64 }, (_, index) => writer.execute(addNote, { text: String(index) })));
    await writer.execute(addNote, { text: "lone" });
    expect(reports.map(({ commands, failed }) => [commands, failed])).toEqual([
      [64, 0],
      [1, 0],
    ]);
    expect(noteTexts(reader)).toHaveLength(65);
    stop();
    await writer.execute(addNote, { text: "unseen" });
    expect(reports).toHaveLength(2);
  });

  test("a result is visible to the reader by the time it is answered", async () => {
    const { writer, reader } = await open();
    const seen = await Promise.all(
      ["a", "b", "c"].map(async (text) => {
        await writer.execute(addNote, { text });
        return noteTexts(reader).includes(text);
      }),
    );
    expect(seen).toEqual([true, true, true]);
  });

  test("no batch exceeds the cap, and the event loop turns between two", async () => {
    const { writer } = await open({ batchCap: 10 });
    const seen: (number | "turn")[] = [];
    writer.onCommit(({ commands }) => {
      seen.push(commands);
      setImmediate(() => seen.push("turn"));
    });
    await Promise.all(Array.from({ length: 25 }, (_, index) => writer.execute(addNote, { text: String(index) })));
    expect(seen.slice(0, 5)).toEqual([10, "turn", 10, "turn", 5]);
  });

  test("any mix of good and failing commands: order kept, failures alone, answers in order", async () => {
    const { writer, reader } = await open();
    const batches = fc.array(fc.array(fc.record({ text: fc.string(), refuse: fc.boolean() }), { maxLength: 12 }), {
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(batches, async (input) => {
        await writer.execute(clearNotes, null);
        const answered: number[] = [];
        const all: Promise<void>[] = [];
        for (const batch of input) {
          for (const note of batch) {
            const index = all.length;
            all.push(
              writer.execute(addNote, note).then(
                () => {
                  expect(note.refuse).toBe(false);
                  answered.push(index);
                },
                (error: unknown) => {
                  expect(note.refuse).toBe(true);
                  expect(error).toEqual(new Error(`refused ${note.text}`));
                  answered.push(index);
                },
              ),
            );
          }
          await new Promise((resolve) => setImmediate(resolve));
        }
        await Promise.all(all);
        expect(answered).toEqual(all.map((_, index) => index));
        const kept = input.flat().flatMap(({ text, refuse }) => (refuse ? [] : [text]));
        // A lone surrogate has no UTF-8, so the database holds its replacement.
        expect(noteTexts(reader)).toEqual(kept.map((text) => Buffer.from(text).toString()));
      }),
      { numRuns: 60 },
    );
  });

  test("a broken constraint is the command's failure, not storage's, and what it threw arrives as it is", async () => {
    const { writer } = await open();
    const clash = defineCommand<null, null>({
      name: "test.clash",
      run(tx) {
        tx.run("INSERT INTO notes (id, text) VALUES (1, 'x'), (1, 'y')");
        return null;
      },
    });
    expect(await failureOf(writer.execute(clash, null))).not.toBeInstanceOf(StorageError);
    const refusal = new Error("mine");
    const refuse = defineCommand<null, null>({
      name: "test.refuse",
      run() {
        throw refusal;
      },
    });
    expect(await failureOf(writer.execute(refuse, null))).toBe(refusal);
  });

  test("a failing listener disturbs nobody", async () => {
    const { writer } = await open();
    writer.onCommit(() => {
      throw new Error("listener");
    });
    await expect(writer.execute(addNote, { text: "a" })).resolves.toBe(1);
  });

  test("data that could not cross a thread is found", async () => {
    const { writer } = await open();
    const bad = defineCommand<{ call: () => void }, null>({ name: "test.bad", run: () => null });
    await expect(writer.execute(bad, { call: () => undefined })).rejects.toThrow(/could not be cloned/);
  });
});

describe("bounds and ends", () => {
  test("one command more than the queue takes is refused, the others are kept", async () => {
    const { writer, reader } = await open({ queueCap: 3 });
    const all = ["a", "b", "c", "d"].map((text) => writer.execute(addNote, { text }));
    expect(writer.queued).toBe(3);
    expect(await failureOf(Promise.resolve(all[3]))).toMatchObject({ name: "StorageError", kind: "unavailable" });
    await Promise.all(all.slice(0, 3));
    expect(noteTexts(reader)).toEqual(["a", "b", "c"]);
  });

  test("close keeps and answers what was queued, then refuses; a read in an answer still works", async () => {
    const opened = await open({ batchCap: 2 });
    const { writer, reader } = opened;
    const all = ["a", "b", "c"].map(async (text) => {
      await writer.execute(addNote, { text });
      return noteTexts(reader).length;
    });
    const closed = opened.close();
    expect(await failureOf(writer.execute(addNote, { text: "late" }))).toMatchObject({ kind: "closed" });
    expect(await Promise.all(all)).toEqual([2, 2, 3]);
    await closed;
    await opened.close();
    expect(() => noteTexts(reader)).toThrow(StorageError);
    expect(() => writer.truncateLog()).toThrow(StorageError);
    store = await openStore(home.paths);
    expect(noteTexts(store.reader)).toEqual(["a", "b", "c"]);
  });
});

describe("a full disk", () => {
  const big = "x".repeat(20_000);

  async function fill(): Promise<Store> {
    const empty = await open();
    const used = empty.reader.get<{ page_count: number }>("PRAGMA page_count")?.page_count ?? 0;
    await empty.close();
    const opened = await open({ maxPageCount: used + 36 });
    let failure: unknown;
    for (let count = 0; failure === undefined && count < 40; count++) {
      failure = await opened.writer.execute(addNote, { text: big }).then(
        () => undefined,
        (error: unknown) => error,
      );
    }
    expect(failure).toMatchObject({ name: "StorageError", kind: "full" });
    return opened;
  }

  test("DM047 DM-R27 is a typed failure that leaves nothing of the command, and writing goes on once room is made", async () => {
    const { writer, reader } = await fill();
    const before = noteTexts(reader).length;
    expect(await failureOf(writer.execute(addNote, { text: big }))).toMatchObject({ kind: "full" });
    expect(noteTexts(reader)).toHaveLength(before);
    await expect(writer.execute(clearNotes, null)).resolves.toBe(before);
    await writer.execute(addNote, { text: big });
    expect(noteTexts(reader)).toEqual([big]);
  });

  test("in a batch only the commands without room fail", async () => {
    const { writer, reader } = await fill();
    const before = noteTexts(reader).length;
    const all = await Promise.allSettled([
      writer.execute(addNote, { text: "small" }),
      writer.execute(addNote, { text: big + big }),
      writer.execute(clearNotes, null),
      writer.execute(addNote, { text: big }),
    ]);
    expect(all.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    expect(all[1]).toMatchObject({ reason: { name: "StorageError", kind: "full" } });
    expect(all[2]).toMatchObject({ value: before + 1 });
    expect(noteTexts(reader)).toEqual([big]);
  });
});

test("deleted text is in no file once the log was truncated", async () => {
  const { writer } = await open();
  const secret = "a body that must not stay";
  const files = (): string =>
    [home.paths.database, `${home.paths.database}-wal`].map((file) => readFileSync(file, "latin1")).join("");
  await writer.execute(addNote, { text: secret });
  expect(files()).toContain(secret);
  await writer.execute(clearNotes, null);
  expect(writer.truncateLog()).toBe(true);
  expect(files()).not.toContain(secret);
});
