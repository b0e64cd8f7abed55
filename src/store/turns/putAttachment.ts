import { defineCommand } from "../command.js";
import { attachmentBytes, attachmentOfRequest, isSameUpload, type AttachmentRow } from "../queries/attachments.js";

/** A file whose bytes are in the home. */
export interface AttachmentDraft {
  /** A fresh id. */
  readonly attachmentId: string;
  readonly principal: string;
  readonly requestId: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  /** 32 bytes. */
  readonly sha256: Uint8Array;
  /** Most bytes of all attachments of the home. */
  readonly maxBytes: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What became of it; a repeated request gets the first one's attachment. */
export type PutAttachmentResult =
  | { readonly kind: "stored"; readonly attachment: AttachmentRow }
  | { readonly kind: "conflict" }
  | { readonly kind: "quota" };

/** Keeps an uploaded file, once for each request. */
export const putAttachment = defineCommand<AttachmentDraft, PutAttachmentResult>({
  name: "attachment.put",
  run(tx, draft) {
    const earlier = attachmentOfRequest(tx, draft.principal, draft.requestId);
    if (earlier !== undefined) {
      return isSameUpload(earlier, draft) ? { kind: "stored", attachment: earlier } : { kind: "conflict" };
    }
    const known = tx.get("SELECT 1 FROM attachments WHERE sha256 = ?", draft.sha256) !== undefined;
    if (!known && attachmentBytes(tx) + draft.sizeBytes > draft.maxBytes) return { kind: "quota" };
    const attachment: AttachmentRow = {
      attachment_id: draft.attachmentId,
      media_type: draft.mediaType,
      size_bytes: draft.sizeBytes,
      sha256: draft.sha256,
    };
    tx.run(
      `INSERT INTO attachments (attachment_id, principal, request_id, media_type, size_bytes, sha256, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      draft.attachmentId,
      draft.principal,
      draft.requestId,
      draft.mediaType,
      draft.sizeBytes,
      draft.sha256,
      draft.now,
    );
    return { kind: "stored", attachment };
  },
});
