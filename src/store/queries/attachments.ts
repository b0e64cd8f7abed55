import type { Queryable } from "../sql.js";

/** An uploaded file, as the store knows it; its bytes are in the home under their digest. */
export interface AttachmentRow {
  readonly attachment_id: string;
  readonly media_type: string;
  readonly size_bytes: number;
  /** 32 bytes. */
  readonly sha256: Uint8Array;
}

/** The attachments of an input, in order. */
export function inputAttachments(at: Queryable, inputId: string): readonly AttachmentRow[] {
  return at.all<AttachmentRow>(
    "SELECT attachments.* FROM input_attachments JOIN attachments USING (attachment_id) WHERE input_id = ? ORDER BY position",
    inputId,
  );
}

/** The attachment that a principal's request made. */
export function attachmentOfRequest(at: Queryable, principal: string, requestId: string): AttachmentRow | undefined {
  return at.get<AttachmentRow>(
    "SELECT * FROM attachments WHERE principal = ? AND request_id = ?",
    principal,
    requestId,
  );
}

/** Whether a repeated request brings what its first call has stored. */
export function isSameUpload(
  row: AttachmentRow,
  upload: { readonly mediaType: string; readonly sha256: Uint8Array },
): boolean {
  return row.media_type === upload.mediaType && Buffer.compare(row.sha256, upload.sha256) === 0;
}

/** Bytes that the home's attachments take; the same content counts once. */
export function attachmentBytes(at: Queryable): number {
  const sql = "SELECT COALESCE(SUM(size_bytes), 0) AS bytes FROM (SELECT DISTINCT sha256, size_bytes FROM attachments)";
  return at.get<{ bytes: number }>(sql)?.bytes ?? 0;
}

/** Digests of the home's attachments, lower-case hex. */
export function attachmentDigests(at: Queryable): ReadonlySet<string> {
  const rows = at.all<{ sha256: Uint8Array }>("SELECT DISTINCT sha256 FROM attachments");
  return new Set(rows.map(({ sha256 }) => Buffer.from(sha256).toString("hex")));
}
