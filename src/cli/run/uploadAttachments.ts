import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";

import { imageKind } from "../../base/imageKind.js";
import { LIMITS } from "../../base/limits.js";
import { TurnServiceService, type UploadAttachmentRequest } from "../../gen/talaria/gateway/v1/turn_service.js";
import { CliError } from "../cliError.js";
import type { GatewayClient } from "../gatewayClient.js";

/** Bytes of a chunk; the contract takes 1,048,576. */
const CHUNK_BYTES = 524_288;
const KINDS = "Attach PNG, JPEG, GIF or WebP images.";

interface Image {
  readonly mediaType: string;
  readonly content: Buffer;
}

/**
 * Uploads files for one turn, in their order. The keys follow from the turn's own: repeated, it has the same attachments.
 * @returns their ids
 * @throws CliError for more files than a turn may have, one that cannot be read, is too large or is no image; RpcError
 */
export async function uploadAttachments(
  gateway: GatewayClient,
  requestId: string,
  files: readonly string[],
): Promise<string[]> {
  if (files.length > LIMITS.attachments) {
    const most = String(LIMITS.attachments);
    throw new CliError("INVALID_FIELD", `${String(files.length)} files are attached.`, `A turn takes ${most} at most.`);
  }
  const ids: string[] = [];
  for (const [index, image] of files.map(readImage).entries()) {
    const key = createHash("sha256")
      .update(requestId)
      .update(`\0${String(index)}`)
      .digest("hex");
    const { attachment } = await gateway.send(TurnServiceService.uploadAttachment, steps(`att_${key}`, image));
    ids.push(attachment?.attachmentId ?? "");
  }
  return ids;
}

function readImage(file: string): Image {
  let content: Buffer;
  try {
    if (statSync(file).size > LIMITS.attachmentBytes) {
      const most = `${String(LIMITS.attachmentBytes / 1_048_576)} MiB`;
      throw new CliError("ATTACHMENT_TOO_LARGE", `${file} is too large.`, `A file may have ${most}.`);
    }
    content = readFileSync(file);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new CliError("NOT_FOUND", `${file} cannot be read: ${code}.`, KINDS, { cause: error });
  }
  const mediaType = imageKind(content);
  if (mediaType === undefined) throw new CliError("INVALID_FIELD", `${file} is no image of a known kind.`, KINDS);
  return { mediaType, content };
}

function* steps(requestId: string, { mediaType, content }: Image): Generator<UploadAttachmentRequest> {
  const sha256 = createHash("sha256").update(content).digest();
  const header = { requestId, mediaType, sizeBytes: BigInt(content.length), sha256 };
  yield { step: { $case: "header", value: header } };
  for (let from = 0; from < content.length; from += CHUNK_BYTES) {
    yield { step: { $case: "chunk", value: content.subarray(from, from + CHUNK_BYTES) } };
  }
}
