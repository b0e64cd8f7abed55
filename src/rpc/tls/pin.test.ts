import { createHash, generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isPin, parsePin, pinOf, pinOfKey } from "./pin.js";

const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });

describe("a pin", () => {
  it("is sha256: and the base64url of the digest over the SubjectPublicKeyInfo", () => {
    const spki = publicKey.export({ type: "spki", format: "der" });
    const pin = pinOf(spki);
    expect(pin).toBe(`sha256:${createHash("sha256").update(spki).digest("base64url")}`);
    expect(pin).toHaveLength(50);
    expect(pinOfKey(publicKey)).toBe(pin);
    expect(parsePin(pin)).toBe(pin);
  });

  it("is never made of a private key", () => {
    expect(() => pinOfKey(privateKey)).toThrow();
  });

  it("has one spelling only", () => {
    const zeros = `sha256:${"A".repeat(43)}`;
    expect(isPin(zeros)).toBe(true);
    // B differs from A in the unused bits of the last character alone.
    expect(isPin(`sha256:${"A".repeat(42)}B`)).toBe(false);
  });

  it.each([
    "",
    "A".repeat(43),
    `SHA256:${"A".repeat(43)}`,
    `sha256:${"A".repeat(42)}`,
    `sha256:${"A".repeat(43)}=`,
    `sha256:${"A".repeat(42)}+`,
    ` sha256:${"A".repeat(43)}`,
    `sha256:${"A".repeat(43)}\n`,
    `sha1:${"A".repeat(43)}`,
  ])("is not %j", (text) => {
    expect(parsePin(text)).toBeUndefined();
  });
});
