import { digestOf, type DigestPart } from "../../base/digest.js";
import { orderedId } from "./orderedId.js";

/**
 * An input id that follows from what it is for, in the form of every other one. A command that has to name an input inside its
 * transaction needs no random source, and doing it twice is a broken constraint instead of a second input.
 * @param at a time that follows from what it is for as well, epoch milliseconds
 */
export function derivedInputId(parts: readonly DigestPart[], at: number): string {
  return orderedId("inp", at, Buffer.from(digestOf(parts), "hex"));
}
