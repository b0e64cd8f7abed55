import { describe, expect, it } from "vitest";
import { isWholeHello } from "./clientHello.js";

/** A record of a handshake with that many bytes of contents. */
function record(length: number): Uint8Array {
  return Uint8Array.of(22, 3, 1, length >> 8, length & 255, ...Array<number>(length).fill(7));
}

describe("isWholeHello", () => {
  it.each([0, 1, 4, 5, 6, 304])("is false of the first %i bytes of a record of 305", (sent) => {
    expect(isWholeHello(record(300).subarray(0, sent))).toBe(false);
  });

  it("is true of the whole record, and of more", () => {
    expect(isWholeHello(record(300))).toBe(true);
    expect(isWholeHello(Buffer.concat([record(300), record(10)]))).toBe(true);
  });

  it("is true of what is no handshake, from the first byte on", () => {
    expect(isWholeHello(Buffer.from("G"))).toBe(true);
  });
});
