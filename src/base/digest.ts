import { hash } from "node:crypto";

/** A part of what is digested. Absent and empty differ. */
export type DigestPart = string | Uint8Array | number | bigint | boolean | undefined;

/**
 * SHA-256 in lower-case hex of the parts in order. Each part is written with its kind and byte length,
 * so that moving a boundary between two parts changes the digest.
 */
export function digestOf(parts: readonly DigestPart[]): string {
  // One buffer for all: every message that comes in is digested.
  const contents = parts.map((part) =>
    part instanceof Uint8Array || typeof part === "string" ? part : part === undefined ? "" : String(part),
  );
  const size = contents.reduce((sum, content) => sum + HEAD_BYTES + Buffer.byteLength(content), 0);
  const whole = Buffer.allocUnsafe(size);
  let at = 0;
  for (const [index, content] of contents.entries()) {
    const body = at + HEAD_BYTES;
    if (typeof content !== "string") whole.set(content, body);
    const length = typeof content === "string" ? whole.write(content, body, "utf8") : content.byteLength;
    whole.writeUInt8(kindOf(parts[index]), at);
    // A length is far below 2^32: both halves of the 64 bits are written as such.
    whole.writeUInt32BE(0, at + 1);
    whole.writeUInt32BE(length, at + 5);
    at = body + length;
  }
  return hash("sha256", whole, "hex");
}

/** A part's kind and its length in 64 bits. */
const HEAD_BYTES = 9;

function kindOf(part: DigestPart): number {
  if (part === undefined) return 0;
  if (part instanceof Uint8Array) return 2;
  switch (typeof part) {
    case "string":
      return 1;
    case "boolean":
      return 4;
    default:
      return 3;
  }
}
