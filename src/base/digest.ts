import { hash } from "node:crypto";

/** A part of what is digested. Absent and empty differ. */
export type DigestPart = string | Uint8Array | number | bigint | boolean | undefined;

/**
 * SHA-256 in lower-case hex of the parts in order. Each part is written with its kind and byte length,
 * so that moving a boundary between two parts changes the digest.
 */
export function digestOf(parts: readonly DigestPart[]): string {
  const encoded: Uint8Array[] = [];
  for (const part of parts) {
    const bytes = part instanceof Uint8Array ? part : Buffer.from(part === undefined ? "" : String(part), "utf8");
    const head = Buffer.allocUnsafe(9);
    head.writeUInt8(kindOf(part), 0);
    // A length is far below 2^32: both halves of the 64 bits are written as such.
    head.writeUInt32BE(0, 1);
    head.writeUInt32BE(bytes.byteLength, 5);
    encoded.push(head, bytes);
  }
  return hash("sha256", Buffer.concat(encoded), "hex");
}

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
