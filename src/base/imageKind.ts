const ascii = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.subarray(from, to)).toString("latin1");

/** Bytes of a file's beginning that {@link imageKind} looks at. */
export const IMAGE_HEAD_BYTES = 12;

/** The media type that a file's first bytes say, of those that attachments may have; undefined for anything else. */
export function imageKind(head: Uint8Array): string | undefined {
  if (ascii(head, 0, 8) === "\x89PNG\r\n\x1a\n") return "image/png";
  if (ascii(head, 0, 3) === "\xff\xd8\xff") return "image/jpeg";
  if (ascii(head, 0, 6) === "GIF87a" || ascii(head, 0, 6) === "GIF89a") return "image/gif";
  if (ascii(head, 0, 4) === "RIFF" && ascii(head, 8, 12) === "WEBP") return "image/webp";
  return undefined;
}
