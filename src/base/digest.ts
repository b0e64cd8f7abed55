import { createHash } from "node:crypto";

/** A part of what is digested. Absent and empty differ. */
export type DigestPart = string | Uint8Array | number | bigint | boolean | undefined;

/**
 * SHA-256 in lower-case hex of the parts in order. Each part is written with its kind and byte length,
 * so that moving a boundary between two parts changes the digest.
 */
export function digestOf(parts: readonly DigestPart[]): string {
  const hash = createHash("sha256");
  for (const part of parts) {
    const bytes = part instanceof Uint8Array ? part : Buffer.from(part === undefined ? "" : String(part), "utf8");
    const head = Buffer.alloc(9);
    head.writeUInt8(kindOf(part), 0);
    head.writeBigUInt64BE(BigInt(bytes.byteLength), 1);
    hash.update(head).update(bytes);
  }
  return hash.digest("hex");
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
