/** Tags of DER (ITU-T X.690, 8) that certificates need; a number of more than one bit of class and form is written out. */
export const DER = Object.freeze({
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
} as const);

/** Encodes one value: tag, length in its shortest form, and the content, which is joined. */
export function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Buffer.of(tag), lengthOf(length), ...content]);
}

/** The tag of a value of the context's own, `[number]`. @param constructed whether it holds other values */
export function contextTag(number: number, constructed: boolean): number {
  return (constructed ? 0xa0 : 0x80) | number;
}

/** Encodes an object identifier that is written with dots. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return der(DER.objectIdentifier, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** Encodes a whole number of 0 or more that is given as bytes, the highest first, in as few as it takes. */
export function unsignedInteger(bytes: Uint8Array): Buffer {
  const from = bytes.findIndex((byte) => byte !== 0);
  const digits = from < 0 ? Buffer.of(0) : bytes.subarray(from);
  // A high first bit would make it negative.
  return der(DER.integer, ...((digits[0] ?? 0) >= 0x80 ? [Buffer.of(0), digits] : [digits]));
}

/** Encodes bits, counted from the highest of the first byte. @param unused bits of the last byte that do not count, 0 to 7 */
export function bitString(bytes: Uint8Array, unused = 0): Buffer {
  return der(DER.bitString, Buffer.of(unused), bytes);
}

/**
 * Encodes a moment as certificates have it: without fractions of a second, as UTCTime before the year 2050 and as GeneralizedTime
 * from then on. Source: RFC 5280 section 4.1.2.5.
 * @param timeMs milliseconds since the Unix epoch, from 1950 to 9999
 */
export function time(timeMs: number): Buffer {
  const digits = new Date(timeMs)
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replaceAll(/[-:T]/g, "");
  const early = digits < "2050";
  return der(early ? DER.utcTime : DER.generalizedTime, Buffer.from(early ? digits.slice(2) : digits, "ascii"));
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 0x100)) bytes.unshift(rest % 0x100);
  return Buffer.of(0x80 | bytes.length, ...bytes);
}

function base128(value: number): readonly number[] {
  const bytes = [value % 0x80];
  for (let rest = Math.floor(value / 0x80); rest > 0; rest = Math.floor(rest / 0x80))
    bytes.unshift(0x80 | (rest % 0x80));
  return bytes;
}
