import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { silentLogger } from "../../base/logger.js";
import { FakeClock } from "../../base/testing/fakeClock.js";
import { StorageError } from "../../base/storageError.js";
import { seededRandom } from "../../base/testing/seededRandom.js";
import { inputAttachments } from "../../store/queries/attachments.js";
import { openStore, type Store } from "../../store/store.js";
import { tempHome } from "../../store/testing/tempHome.js";
import { admitInput, type AdmissionResult } from "../../store/turns/admitInput.js";
import { deleteSession } from "../../store/turns/sessionRequests.js";
import { fresh } from "../../store/turns/testing/turnBench.js";
import { AttachmentFiles, type Upload } from "./attachmentFiles.js";
import { imageKind } from "../../base/imageKind.js";

const PNG = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(40, 7)]);
const GIF = Buffer.concat([Buffer.from("GIF89a"), Buffer.alloc(20, 3)]);
const random = seededRandom(9);
let home: ReturnType<typeof tempHome>;
let store: Store;
let clock: FakeClock;
let files: AttachmentFiles;
beforeEach(async () => {
  home = tempHome();
  store = await openStore(home.paths);
  clock = new FakeClock();
  mkdirSync(home.paths.attachmentsDir, { recursive: true });
  files = filesOf(1_000);
});
afterEach(async () => {
  await store.close();
  home.remove();
});

function filesOf(maxBytes: number): AttachmentFiles {
  const directory = home.paths.attachmentsDir;
  return new AttachmentFiles({ store, clock, random, log: silentLogger(), directory, maxBytes });
}

const kept = (): string[] => readdirSync(home.paths.attachmentsDir);
const hex = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

function uploadOf(content: Buffer, requestId: string, more: Partial<Upload> = {}): Upload {
  const sha256 = createHash("sha256").update(content).digest();
  const sizeBytes = content.length;
  return { principal: "client:test", requestId, mediaType: imageKind(content) ?? "", sizeBytes, sha256, ...more };
}

async function* inPieces(content: Buffer): AsyncGenerator<Buffer> {
  for (let from = 0; from < content.length; from += 5) yield content.subarray(from, from + 5);
}

const put = (content: Buffer, requestId: string, more: Partial<Upload> = {}) =>
  files.put(uploadOf(content, requestId, more), inPieces(content));

function admit(
  sessionId: string,
  attachmentIds: readonly string[],
  principal = "client:test",
): Promise<AdmissionResult> {
  const now = clock.now();
  return store.writer.execute(admitInput, {
    input: {
      inputId: `inp_${sessionId.slice(4)}`,
      sessionId,
      principal,
      requestScope: sessionId,
      requestId: "r",
      digest: Buffer.alloc(32),
      author: { kind: "client", id: principal, displayName: "test", sentBy: "" },
      attribution: "",
      text: "look",
      depth: 0,
      headless: false,
      traceparent: "",
      tracestate: "",
      now,
    },
    create: { sessionId, agent: "echo", title: "", botChat: false, onUnknown: "pause", policy: Buffer.alloc(0), now },
    attachmentIds,
    maxQueued: 64,
  });
}

function remove(sessionId: string) {
  const request = { principal: "client:test", requestId: sessionId, digest: "", now: clock.now(), keepMs: 1_000 };
  return store.writer.execute(deleteSession, { ...request, sessionId });
}

test("a file is kept under its digest, private, once for each content and once for each request", async () => {
  const one = await put(PNG, "a");
  const path = join(home.paths.attachmentsDir, hex(PNG));
  expect(readFileSync(path).equals(PNG)).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(one).toMatchObject({ media_type: "image/png", size_bytes: PNG.length });
  expect(files.earlier(uploadOf(PNG, "a"))?.attachment_id).toBe(one.attachment_id);
  expect(() => files.earlier(uploadOf(GIF, "a"))).toThrow(
    expect.objectContaining({ reason: "REQUEST_CONFLICT" }) as Error,
  );
  expect(files.earlier(uploadOf(PNG, "b"))).toBeUndefined();
  const two = await put(PNG, "b");
  expect(two.attachment_id).not.toBe(one.attachment_id);
  expect(kept()).toEqual([hex(PNG)]);
});

test.each([
  ["another digest", { sha256: Buffer.alloc(32) }, "ATTACHMENT_DIGEST_MISMATCH"],
  ["another kind", { mediaType: "image/gif" }, "INVALID_FIELD"],
  ["fewer bytes than announced", { sizeBytes: PNG.length + 1 }, "INVALID_FIELD"],
  ["more bytes than announced", { sizeBytes: PNG.length - 1 }, "ATTACHMENT_TOO_LARGE"],
])("a file of %s is refused and leaves nothing", async (_, more, reason) => {
  await expect(put(PNG, "a", more)).rejects.toMatchObject({ reason });
  expect(kept()).toEqual([]);
  expect(store.reader.all("SELECT 1 FROM attachments")).toEqual([]);
});

test("a text is no image, whatever its header says, and an upload that breaks off leaves nothing", async () => {
  const text = Buffer.from("just some text");
  await expect(put(text, "a", { mediaType: "image/png" })).rejects.toMatchObject({ reason: "INVALID_FIELD" });
  const broken = (async function* () {
    yield PNG.subarray(0, 10);
    throw new Error("gone");
  })();
  await expect(files.put(uploadOf(PNG, "b"), broken)).rejects.toThrow("gone");
  expect(kept()).toEqual([]);
});

test("the quota counts a content once, and a refusal leaves nothing", async () => {
  files = filesOf(PNG.length + 10);
  await put(PNG, "a");
  await expect(put(GIF, "b")).rejects.toMatchObject({ reason: "ATTACHMENT_QUOTA" });
  await put(PNG, "c");
  expect(kept()).toEqual([hex(PNG)]);
});

test("an input has its principal's attachments in order, and nobody else's", async () => {
  const [one, two] = [await put(PNG, "a"), await put(GIF, "b")];
  const session = fresh.session();
  await admit(session, [two.attachment_id, one.attachment_id]);
  const rows = inputAttachments(store.reader, `inp_${session.slice(4)}`);
  expect(rows.map((row) => row.attachment_id)).toEqual([two.attachment_id, one.attachment_id]);
  expect(await admit(fresh.session(), [one.attachment_id], "client:other")).toEqual({ kind: "unknown_attachment" });
  expect(await admit(fresh.session(), ["att_none"])).toEqual({ kind: "unknown_attachment" });
});

test("a file goes with the last session that has it; one that nobody used goes after a day", async () => {
  const [used, unused] = [await put(PNG, "a"), await put(GIF, "b")];
  const [first, second] = [fresh.session(), fresh.session()];
  await admit(first, [used.attachment_id]);
  await admit(second, [used.attachment_id]);
  await remove(first);
  await files.sweep();
  expect(kept().sort()).toEqual([hex(PNG), hex(GIF)].sort());
  await remove(second);
  await files.sweep();
  expect(kept()).toEqual([hex(GIF)]);
  clock.advance(86_400_001);
  await files.sweep();
  expect(kept()).toEqual([]);
  expect(store.reader.all("SELECT 1 FROM attachments")).toEqual([]);
  expect(unused.attachment_id).not.toBe(used.attachment_id);
});

test("a start removes what was left half written or without a record", async () => {
  const partial = join(home.paths.attachmentsDir, ".upload-att_left");
  const stray = join(home.paths.attachmentsDir, "0".repeat(64));
  writeFileSync(partial, "half");
  writeFileSync(stray, "stray");
  await put(PNG, "a");
  await files.clean();
  expect([existsSync(partial), existsSync(stray)]).toEqual([false, false]);
  expect(kept()).toEqual([hex(PNG)]);
});

test.each([
  ["image/png", "\x89PNG\r\n\x1a\nrest"],
  ["image/jpeg", "\xff\xd8\xff\xe0rest"],
  ["image/gif", "GIF87arest"],
  ["image/webp", "RIFF\0\0\0\0WEBPrest"],
  [undefined, "RIFF\0\0\0\0WAVErest"],
  [undefined, "<svg xmlns='http://www.w3.org/2000/svg'/>"],
  [undefined, ""],
])("%s is told by its first bytes", (kind, text) => {
  expect(imageKind(Buffer.from(text, "latin1"))).toBe(kind);
});

test("a file whose row cannot be kept goes at once; one of the same content that is known stays", async () => {
  await put(PNG, "known");
  const refused = vi.spyOn(store.writer, "execute").mockRejectedValue(new StorageError("full", "no room"));
  await expect(put(GIF, "new")).rejects.toMatchObject({ kind: "full" });
  await expect(put(PNG, "again")).rejects.toMatchObject({ kind: "full" });
  refused.mockRestore();
  expect(kept()).toEqual([hex(PNG)]);
});
