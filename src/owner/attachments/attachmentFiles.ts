import { createHash } from "node:crypto";
import { open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import type { Clock } from "../../base/clock.js";
import { newId } from "../../base/ids.js";
import { QUOTAS } from "../../base/limits.js";
import type { Logger } from "../../base/logger.js";
import { Mutex } from "../../base/mutex.js";
import type { Random } from "../../base/random.js";
import { invalidField, reasonError, RpcError } from "../../rpc/rpcError.js";
import {
  attachmentBytes,
  attachmentDigests,
  attachmentOfRequest,
  isSameUpload,
  type AttachmentRow,
} from "../../store/queries/attachments.js";
import type { Store } from "../../store/store.js";
import { forgetAttachments } from "../../store/turns/forgetAttachments.js";
import { putAttachment } from "../../store/turns/putAttachment.js";
import { IMAGE_HEAD_BYTES, imageKind } from "../../base/imageKind.js";
import { attachmentPath } from "./toAttachment.js";

/** Prefix of a file that is still being written. */
const PARTIAL = ".upload-";
/** How long an attachment may wait for a turn that uses it, milliseconds. */
const UNUSED_MS = 86_400_000;

/** A file on its way in, as its header says. */
export interface Upload {
  readonly principal: string;
  readonly requestId: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  /** 32 bytes. */
  readonly sha256: Uint8Array;
}

/** What {@link AttachmentFiles} works with. */
export interface AttachmentParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Must exist. */
  readonly directory: string;
  /** Most bytes of all attachments; default the home's quota. */
  readonly maxBytes?: number;
}

/** Uploaded files: their bytes in the home under their digest, private to this user, and what is known of them in the store. */
export class AttachmentFiles {
  readonly #parts: AttachmentParts;
  readonly #maxBytes: number;
  /** A file appears and goes together with its row: one of both at a time. */
  readonly #changes = new Mutex();

  constructor(parts: AttachmentParts) {
    this.#parts = parts;
    this.#maxBytes = parts.maxBytes ?? QUOTAS.attachmentBytesPerHome;
  }

  /** What an earlier call of the same request has stored. @throws RpcError REQUEST_CONFLICT for another content. */
  earlier(upload: Upload): AttachmentRow | undefined {
    const row = attachmentOfRequest(this.#parts.store.reader, upload.principal, upload.requestId);
    if (row !== undefined && !isSameUpload(row, upload)) throw reasonError("REQUEST_CONFLICT");
    return row;
  }

  /**
   * Stores a file.
   * @throws RpcError ATTACHMENT_QUOTA, ATTACHMENT_TOO_LARGE for more bytes than announced, ATTACHMENT_DIGEST_MISMATCH, INVALID_FIELD where
   *   it is not of its media type, REQUEST_CONFLICT; StorageError; what the chunks throw.
   */
  async put(upload: Upload, chunks: AsyncIterable<Uint8Array>): Promise<AttachmentRow> {
    const { store, clock, random, directory } = this.#parts;
    const { reader } = store;
    const fits = attachmentBytes(reader) + upload.sizeBytes <= this.#maxBytes;
    if (!fits && !attachmentDigests(reader).has(hexOf(upload.sha256))) throw new RpcError("ATTACHMENT_QUOTA");
    const attachmentId = newId("att", random);
    const partial = join(directory, `${PARTIAL}${attachmentId}`);
    try {
      await this.#write(partial, upload, chunks);
      return await this.#changes.run(async () => {
        await rename(partial, attachmentPath(directory, upload.sha256));
        const draft = { ...upload, attachmentId, maxBytes: this.#maxBytes, now: clock.now() };
        const put = await store.writer.execute(putAttachment, draft).catch(async (error: unknown) => {
          // Without its row nobody would find the file until the next sweep, and it may be what fills the disk.
          await this.#removeUnknown();
          throw error;
        });
        if (put.kind === "stored") return put.attachment;
        await this.#removeUnknown();
        throw put.kind === "conflict" ? reasonError("REQUEST_CONFLICT") : new RpcError("ATTACHMENT_QUOTA");
      });
    } finally {
      await rm(partial, { force: true });
    }
  }

  /** Removes what no session has any more, what nobody used, and what was left half written. Failures are logged. */
  async sweep(): Promise<void> {
    const { store, clock, log } = this.#parts;
    try {
      await this.#changes.run(async () => {
        await store.writer.execute(forgetAttachments, { unusedBefore: clock.now() - UNUSED_MS });
        await this.#removeUnknown();
      });
    } catch (error) {
      log.warn({ err: error }, "attachments that are no longer needed could not be removed; the next sweep will");
    }
  }

  /** Removes what a start before left half written. To be called before the first upload. */
  async clean(): Promise<void> {
    const { directory } = this.#parts;
    for (const name of await readdir(directory)) {
      if (name.startsWith(PARTIAL)) await rm(join(directory, name), { force: true });
    }
    await this.sweep();
  }

  async #removeUnknown(): Promise<void> {
    const { store, directory } = this.#parts;
    const known = attachmentDigests(store.reader);
    for (const name of await readdir(directory)) {
      if (!name.startsWith(PARTIAL) && !known.has(name)) await rm(join(directory, name), { force: true });
    }
  }

  async #write(path: string, upload: Upload, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const hash = createHash("sha256");
    let head = Buffer.alloc(0);
    let size = 0;
    const file = await open(path, "wx", 0o600);
    try {
      for await (const chunk of chunks) {
        size += chunk.length;
        if (size > upload.sizeBytes) {
          throw new RpcError("ATTACHMENT_TOO_LARGE", { message: "The content is longer than its header says." });
        }
        if (head.length < IMAGE_HEAD_BYTES) head = Buffer.concat([head, chunk]).subarray(0, IMAGE_HEAD_BYTES);
        hash.update(chunk);
        await file.writeFile(chunk);
      }
      if (size !== upload.sizeBytes) throw invalidField("size_bytes", "is not the size of the content");
      if (Buffer.compare(hash.digest(), upload.sha256) !== 0) throw new RpcError("ATTACHMENT_DIGEST_MISMATCH");
      if (imageKind(head) !== upload.mediaType) throw invalidField("media_type", "is not what the content is");
      await file.sync();
    } finally {
      await file.close();
    }
  }
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
