/**
 * Writes the few ASN.1 DER shapes of the certificates we issue (X.690). There is no reader here: what a peer presents
 * is parsed by OpenSSL through node:crypto only.
 */

/** Universal and context tags that {@link der} is called with. */
export const DER_TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** One value: tag, definite length, contents. Contents of up to 65,535 bytes; throws RangeError above that. */
export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, ...lengthOctets(body.length)]), body]);
}

function lengthOctets(length: number): number[] {
  if (length < 0x80) return [length];
  if (length <= 0xff) return [0x81, length];
  if (length <= 0xffff) return [0x82, length >> 8, length & 0xff];
  throw new RangeError(`a DER value of ${length} bytes is longer than certificates need`);
}

/** SEQUENCE of the given encodings. */
export function derSequence(...parts: readonly Uint8Array[]): Buffer {
  return der(DER_TAG.sequence, ...parts);
}

/** BIT STRING of whole bytes unless `unusedBits` says how many low bits of the last byte do not count (0 to 7). */
export function derBitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return der(DER_TAG.bitString, Buffer.from([unusedBits]), bytes);
}

/** Context-specific, constructed tag `[number]` around an encoding (EXPLICIT tagging). */
export function derExplicit(number: number, content: Uint8Array): Buffer {
  return der(0xa0 | number, content);
}

/** OBJECT IDENTIFIER from its dotted form, such as `2.5.4.3`. */
export function derObjectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second, ...rest.flatMap(base128)];
  return der(DER_TAG.objectIdentifier, Buffer.from(bytes));
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
  return digits;
}

/**
 * Time of a certificate in UTC, whole seconds: UTCTime before 2050 and GeneralizedTime from then on, as RFC 5280
 * section 4.1.2.5 demands.
 *
 * @param timeMs milliseconds since the Unix epoch, years 1970 to 9999
 */
export function derTime(timeMs: number): Buffer {
  const digits = new Date(timeMs).toISOString().replace(/[-:T]/g, "").slice(0, 14);
  const isUtcTime = Number(digits.slice(0, 4)) < 2050;
  return isUtcTime
    ? der(DER_TAG.utcTime, Buffer.from(`${digits.slice(2)}Z`, "ascii"))
    : der(DER_TAG.generalizedTime, Buffer.from(`${digits}Z`, "ascii"));
}
