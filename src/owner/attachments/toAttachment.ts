import { join } from "node:path";

import type { Attachment } from "../../gen/talaria/types/v1/attachment.js";
import type { AttachmentRow } from "../../store/queries/attachments.js";

/** An attachment as the contract writes it. @param path where the worker reads it; empty for clients. */
export function toAttachment(row: AttachmentRow, path = ""): Attachment {
  return {
    attachmentId: row.attachment_id,
    mediaType: row.media_type,
    sizeBytes: BigInt(row.size_bytes),
    sha256: Buffer.from(row.sha256),
    path,
  };
}

/** Where the bytes of that digest are kept. */
export function attachmentPath(attachmentsDir: string, sha256: Uint8Array): string {
  return join(attachmentsDir, Buffer.from(sha256).toString("hex"));
}
