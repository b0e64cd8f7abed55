import fc from "fast-check";
import { expect, test } from "vitest";

import { bitString, contextTag, DER, der, objectIdentifier, time, unsignedInteger } from "./der.js";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

test.each([
  [0, "0400"],
  [127, "047f"],
  [128, "048180"],
  [255, "0481ff"],
  [256, "04820100"],
  [65_536, "0483010000"],
])("a content of %i bytes has its length in the shortest form", (length, head) => {
  const encoded = der(DER.octetString, Buffer.alloc(length));
  expect(hex(encoded.subarray(0, head.length / 2))).toBe(head);
  expect(encoded).toHaveLength(head.length / 2 + length);
});

// Source of the encodings: RFC 5280 and RFC 5758, as openssl asn1parse shows them.
test.each([
  ["2.5.4.3", "0603550403"],
  ["1.2.840.10045.4.3.2", "06082a8648ce3d040302"],
  ["1.3.6.1.5.5.7.3.1", "06082b06010505070301"],
])("the object identifier %s", (dotted, encoded) => {
  expect(hex(objectIdentifier(dotted))).toBe(encoded);
});

test.each([
  ["", "020100"],
  ["0000", "020100"],
  ["007f", "02017f"],
  ["80", "02020080"],
  ["00ff01", "020300ff01"],
])("the number of the bytes %j", (bytes, encoded) => {
  expect(hex(unsignedInteger(Buffer.from(bytes, "hex")))).toBe(encoded);
});

test("a number keeps its value and is never negative", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 20 }), (bytes) => {
      const content = unsignedInteger(bytes).subarray(2);
      expect(BigInt(`0x${hex(content)}`)).toBe(BigInt(`0x${hex(bytes)}`));
      expect((content[0] ?? 0) < 0x80).toBe(true);
    }),
  );
});

test.each([
  [Date.UTC(1999, 11, 31, 23, 59, 59, 999), "170d3939313233313233353935395a"],
  [Date.UTC(2049, 11, 31, 23, 59, 59), "170d3439313233313233353935395a"],
  [Date.UTC(2050, 0, 1), "180f32303530303130313030303030305a"],
  [Date.UTC(9999, 11, 31, 23, 59, 59), "180f39393939313233313233353935395a"],
])("the moment %i", (timeMs, encoded) => {
  expect(hex(time(timeMs))).toBe(encoded);
});

test("bits and tags of the context's own", () => {
  expect(hex(bitString(Buffer.of(0x04), 2))).toBe("03020204");
  expect([contextTag(0, true), contextTag(2, false)]).toEqual([0xa0, 0x82]);
});
