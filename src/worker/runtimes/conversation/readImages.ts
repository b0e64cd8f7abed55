import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";

import { LIMITS } from "../../../base/limits.js";
import type { Attachment } from "../../../gen/talaria/types/v1/attachment.js";
import { RpcError } from "../../../rpc/rpcError.js";

/** An image of the turn's input. */
export interface InputImage {
  readonly mediaType: string;
  readonly data: Uint8Array;
}

const MEDIA_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/**
 * Reads the images of an input and checks each against its digest.
 * @throws RpcError UNKNOWN_ATTACHMENT, ATTACHMENT_TOO_LARGE, ATTACHMENT_DIGEST_MISMATCH, or INVALID_FIELD for what is no image.
 */
export async function readImages(attachments: readonly Attachment[]): Promise<readonly InputImage[]> {
  if (attachments.length > LIMITS.attachments) {
    throw new RpcError("INVALID_FIELD", { message: `An input has at most ${String(LIMITS.attachments)} images.` });
  }
  const images: InputImage[] = [];
  for (const attachment of attachments) images.push(await readImage(attachment));
  return images;
}

async function readImage({ mediaType, path, sha256, sizeBytes, attachmentId }: Attachment): Promise<InputImage> {
  if (!MEDIA_TYPES.has(mediaType)) {
    throw new RpcError("INVALID_FIELD", { message: `The attachment ${attachmentId} is no image of a known kind.` });
  }
  const data = await readBounded(path, attachmentId);
  const digest = createHash("sha256").update(data).digest();
  if (BigInt(data.length) !== sizeBytes || Buffer.compare(digest, sha256) !== 0) {
    throw new RpcError("ATTACHMENT_DIGEST_MISMATCH", {
      message: `The bytes of the attachment ${attachmentId} do not match its digest.`,
    });
  }
  return { mediaType, data };
}

async function readBounded(path: string, attachmentId: string): Promise<Buffer> {
  const missing = (cause: unknown): RpcError =>
    new RpcError("UNKNOWN_ATTACHMENT", { message: `The attachment ${attachmentId} cannot be read.`, cause });
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (cause: unknown) => {
      throw missing(cause);
    },
  );
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw missing(undefined);
    if (facts.size > LIMITS.attachmentBytes) throw new RpcError("ATTACHMENT_TOO_LARGE");
    return await file.readFile();
  } finally {
    await file.close();
  }
}
