import { digestOf, type DigestPart } from "../../base/digest.js";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const CHARACTERS = 26;

/**
 * An input id that follows from what it is for, in the form of every other one. A command that has to name an input inside its
 * transaction needs no random source, and doing it twice is a broken constraint instead of a second input.
 */
export function derivedInputId(parts: readonly DigestPart[]): string {
  const bytes = Buffer.from(digestOf(parts), "hex");
  let text = "inp_";
  for (const byte of bytes.subarray(0, CHARACTERS)) text += ALPHABET.charAt(byte & 31);
  return text;
}
