import { describe, expect, it } from "vitest";
import { DER_TAG, der, derObjectIdentifier, derTime } from "./der.js";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

describe("DER", () => {
  it.each([
    [0, "0400"],
    [127, "047f"],
    [128, "048180"],
    [255, "0481ff"],
    [256, "04820100"],
    [65_535, "0482ffff"],
  ])("writes the length %i in its shortest form", (length, header) => {
    const encoded = der(DER_TAG.octetString, Buffer.alloc(length));
    expect(hex(encoded.subarray(0, encoded.length - length))).toBe(header);
  });

  it("refuses what is longer than two length bytes say", () => {
    expect(() => der(DER_TAG.octetString, Buffer.alloc(65_536))).toThrow(RangeError);
  });

  it.each([
    ["2.5.29.17", "0603551d11"],
    ["1.2.840.10045.4.3.2", "06082a8648ce3d040302"],
  ])("writes the object identifier %s", (dotted, encoded) => {
    expect(hex(derObjectIdentifier(dotted))).toBe(encoded);
  });

  it.each([
    [Date.UTC(2049, 11, 31, 23, 59, 59, 999), DER_TAG.utcTime, "491231235959Z"],
    [Date.UTC(2050, 0, 1), DER_TAG.generalizedTime, "20500101000000Z"],
  ])("writes %i as the kind of time that RFC 5280 demands", (timeMs, tag, text) => {
    const encoded = derTime(timeMs);
    expect(encoded[0]).toBe(tag);
    expect(encoded.subarray(2).toString("ascii")).toBe(text);
  });
});
