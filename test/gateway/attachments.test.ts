import { createHash, randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { SessionServiceService } from "../../src/gen/talaria/gateway/v1/session_service.js";
import {
  type AttachmentHeader,
  TurnServiceService,
  type UploadAttachmentRequest,
} from "../../src/gen/talaria/gateway/v1/turn_service.js";
import { sendStream } from "../../src/rpc/clients/sendStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { refusalOf } from "../kit/turnClient.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitUntil } from "../kit/waitFor.js";

const workers = useForeignWorkers();
const gateway = useTestGateway({
  agents: { foreign: { runtime: "command", worker: { command: workers.command } } },
});

const PNG = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(2_500_000, 7)]);

/** Uploads a file in chunks. @param more what its header says else. */
async function upload(content: Buffer, more: Partial<AttachmentHeader> = {}, chunkBytes = 1_000_000) {
  const header: AttachmentHeader = {
    requestId: randomUUID(),
    mediaType: "image/png",
    sizeBytes: BigInt(content.length),
    sha256: createHash("sha256").update(content).digest(),
    ...more,
  };
  async function* steps(): AsyncGenerator<UploadAttachmentRequest> {
    yield { step: { $case: "header", value: header } };
    for (let from = 0; from < content.length; from += chunkBytes) {
      yield { step: { $case: "chunk", value: content.subarray(from, from + chunkBytes) } };
    }
  }
  const { attachment } = await sendStream(gateway().client.client, TurnServiceService.uploadAttachment, steps());
  if (attachment === undefined) throw new Error("no attachment");
  return attachment;
}

test("a file that was uploaded reaches the worker with its digest, and goes with its session", async () => {
  const { client, context } = gateway();
  const requestId = randomUUID();
  const attachment = await upload(PNG, { requestId });
  expect(attachment).toMatchObject({ mediaType: "image/png", sizeBytes: BigInt(PNG.length), path: "" });
  expect((await upload(PNG, { requestId })).attachmentId).toBe(attachment.attachmentId);
  const run = client.run("foreign", "look", { attachmentIds: [attachment.attachmentId] });
  const worker = await workers.next();
  const { input } = await worker.running();
  const [given] = input?.attachments ?? [];
  expect(given).toMatchObject({ ...attachment, path: expect.stringContaining(context.paths.attachmentsDir) as string });
  const bytes = readFileSync(given?.path ?? "");
  expect(
    createHash("sha256")
      .update(bytes)
      .digest()
      .equals(Buffer.from(given?.sha256 ?? [])),
  ).toBe(true);
  worker.result();
  await worker.leave();
  const { turn } = await run.outcome();
  const held = () =>
    gateway().rows("SELECT 1 FROM sessions WHERE session_id = ? AND running_execution_id IS NOT NULL", turn.sessionId);
  await waitUntil("the session is free", () => held().length === 0, held);
  const { sessionId } = turn;
  await unaryCall(client.client, SessionServiceService.deleteSession, { requestId: randomUUID(), sessionId });
  await waitUntil(
    "the file is gone",
    () => !existsSync(given?.path ?? ""),
    () => readdirSync(context.paths.attachmentsDir),
  );
  expect(gateway().rows("SELECT 1 FROM attachments")).toEqual([]);
});

test("what breaks the rules is refused, typed, and leaves nothing", async () => {
  const { client, context } = gateway();
  const small = PNG.subarray(0, 100);
  expect(await refusalOf(upload(small, { mediaType: "image/svg+xml" }))).toBe("INVALID_FIELD");
  expect(await refusalOf(upload(small, { mediaType: "image/gif" }))).toBe("INVALID_FIELD");
  expect(await refusalOf(upload(small, { sizeBytes: 10_485_761n }))).toBe("ATTACHMENT_TOO_LARGE");
  expect(await refusalOf(upload(small, { sizeBytes: 99n }))).toBe("ATTACHMENT_TOO_LARGE");
  expect(await refusalOf(upload(small, { sizeBytes: 0n }))).toBe("INVALID_FIELD");
  expect(await refusalOf(upload(small, { sha256: Buffer.alloc(32) }))).toBe("ATTACHMENT_DIGEST_MISMATCH");
  expect(await refusalOf(upload(small, { sha256: Buffer.alloc(31) }))).toBe("INVALID_FIELD");
  expect(await refusalOf(upload(small, { requestId: "" }))).toBe("INVALID_FIELD");
  expect(await refusalOf(upload(PNG, {}, 1_048_577))).toBe("INVALID_FIELD");
  const none = (async function* (): AsyncGenerator<UploadAttachmentRequest> {
    yield { step: { $case: "chunk", value: small } };
  })();
  expect(await refusalOf(sendStream(client.client, TurnServiceService.uploadAttachment, none))).toBe("INVALID_FIELD");
  expect(readdirSync(context.paths.attachmentsDir)).toEqual([]);
  const unknown = client.run("foreign", "look", { attachmentIds: [`att_${"0".repeat(26)}`] });
  expect(await refusalOf(unknown)).toBe("UNKNOWN_ATTACHMENT");
  expect(await refusalOf(client.run("foreign", "look", { attachmentIds: [join("..", "state.db")] }))).toBe(
    "INVALID_FIELD",
  );
});
