const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_CHARACTERS = 10;

/** Bytes of {@link orderedId} that tell ids of one millisecond apart; each gives five bits. */
export const ORDERED_ID_BYTES = 16;

/**
 * An id in the form of every other one whose first part is a time: ids of one minute are neighbours in an index, so that a
 * commit of many rows changes few of its pages.
 * @param at epoch milliseconds, below 2^50
 * @param bytes {@link ORDERED_ID_BYTES} or more, random or of a digest
 */
export function orderedId(prefix: "del" | "inp", at: number, bytes: Uint8Array): string {
  let text = "";
  for (let left = at, place = 0; place < TIME_CHARACTERS; place++, left = Math.floor(left / 32)) {
    text = ALPHABET.charAt(left % 32) + text;
  }
  for (const byte of bytes.subarray(0, ORDERED_ID_BYTES)) text += ALPHABET.charAt(byte & 31);
  return `${prefix}_${text}`;
}
