import { X509Certificate, createPrivateKey } from "node:crypto";
import { describe, expect, it } from "vitest";
import { ephemeralIdentity } from "./identityKey.js";
import { DEFAULT_LEAF_POLICY, issueLeaf, lateLeafSource, leafSource, needsRotation } from "./leafCertificate.js";

const DAY = 24 * 60 * 60 * 1000;
const NOW = Date.UTC(2030, 0, 15, 12);
const identity = await ephemeralIdentity(NOW);

describe("a leaf", async () => {
  const leaf = await issueLeaf(identity, NOW);
  const certificate = new X509Certificate(leaf.chainPem);

  it("is signed by the identity for the name talaria and is no CA", () => {
    expect(certificate.verify(new X509Certificate(identity.certificatePem).publicKey)).toBe(true);
    expect(certificate.subjectAltName).toBe("DNS:talaria");
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]);
    expect(certificate.ca).toBe(false);
    expect(certificate.checkPrivateKey(createPrivateKey(leaf.privateKeyPem))).toBe(true);
    expect(leaf.chainPem.endsWith(identity.certificatePem)).toBe(true);
  });

  it("is valid for 30 days, and from a day before", () => {
    expect(Date.parse(certificate.validFrom)).toBe(NOW - DAY);
    expect(Date.parse(certificate.validTo)).toBe(NOW + 30 * DAY);
    expect(leaf).toMatchObject({ notBeforeMs: NOW - DAY, notAfterMs: NOW + 30 * DAY });
  });

  it("is due for rotation when less than a third is left, or when the clock is before it", () => {
    expect(needsRotation(leaf, NOW)).toBe(false);
    expect(needsRotation(leaf, NOW + 20 * DAY)).toBe(false);
    expect(needsRotation(leaf, NOW + 20 * DAY + 1)).toBe(true);
    expect(needsRotation(leaf, NOW - DAY)).toBe(false);
    expect(needsRotation(leaf, NOW - DAY - 1)).toBe(true);
  });

  it("has a key and a serial number of its own", async () => {
    const other = await issueLeaf(identity, NOW);
    expect(other.privateKeyPem).not.toBe(leaf.privateKeyPem);
    expect(new X509Certificate(other.chainPem).serialNumber).not.toBe(certificate.serialNumber);
  });
});

describe("a leaf source", () => {
  it("keeps a leaf until it is refreshed when due, by the policy it was given", async () => {
    let now = NOW;
    const policy = { ...DEFAULT_LEAF_POLICY, validityMs: 3 * DAY };
    const source = await leafSource(identity, () => now, policy);
    const first = source.currentLeaf();
    now += 2 * DAY;
    expect(await source.refresh()).toBe(first);
    now += 1;
    expect(source.currentLeaf()).toBe(first);
    const second = await source.refresh();
    expect(second).not.toBe(first);
    expect(second.notAfterMs).toBe(now + 3 * DAY);
    expect(source.currentLeaf()).toBe(second);
    expect(await source.refresh()).toBe(second);
  });

  it("issues one leaf for refreshes that overlap, and the next one when that is due", async () => {
    let now = NOW;
    const source = await leafSource(identity, () => now);
    for (let round = 0; round < 2; round += 1) {
      const before = source.currentLeaf();
      now += 30 * DAY;
      const leaves = new Set(await Promise.all(Array.from({ length: 8 }, () => source.refresh())));
      expect([...leaves]).toEqual([source.currentLeaf()]);
      expect(leaves.has(before)).toBe(false);
    }
  });

  it("keeps its leaf when issuing fails, says so, and tries again", async () => {
    let now = NOW;
    let broken = false;
    const fragile = {
      ...identity,
      get privateKey() {
        if (broken) throw new Error("no key");
        return identity.privateKey;
      },
    };
    const source = await leafSource(fragile, () => now);
    const first = source.currentLeaf();
    now += 30 * DAY;
    broken = true;
    await expect(source.refresh()).rejects.toThrow("no key");
    expect(source.currentLeaf()).toBe(first);
    broken = false;
    expect(await source.refresh()).not.toBe(first);
  });

  it("holds none before the first refresh where it is made so", async () => {
    const source = lateLeafSource(identity, () => NOW);
    expect(() => source.currentLeaf()).toThrow("refresh before");
    const leaves = new Set(await Promise.all([source.refresh(), source.refresh()]));
    expect([...leaves]).toEqual([source.currentLeaf()]);
  });
});
