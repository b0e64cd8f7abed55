import { X509Certificate, createPublicKey, generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { buildCertificate } from "./certificateBuilder.js";
import type { CertificateContents } from "./certificateBuilder.js";
import { IDENTITY_NAME, ephemeralIdentity } from "./identityKey.js";
import type { Identity } from "./identityKey.js";
import { LEAF_DNS_NAME, issueLeaf } from "./leafCertificate.js";
import { verifyPeer } from "./peerVerifier.js";
import type { PeerVerdict } from "./peerVerifier.js";
import type { Pin } from "./pin.js";

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2030, 0, 15, 12);
const identity = await ephemeralIdentity(NOW);
const other = await ephemeralIdentity(NOW);
const identityDer = derOf(identity.certificatePem);
const leafDer = derOf((await issueLeaf(identity, NOW)).chainPem);

function derOf(pem: string): Buffer {
  return new X509Certificate(pem).raw;
}

function verify(chain: readonly Uint8Array[], nowMs = NOW, pins: readonly Pin[] = [identity.pin]): PeerVerdict {
  return verifyPeer({ chain, nowMs, pins: new Set(pins) });
}

/** A leaf-shaped certificate by `issuer`, with anything about it changed. */
function certificate(issuer: Identity, changes: Partial<CertificateContents> = {}): Promise<Buffer> {
  return buildCertificate({
    role: { kind: "leaf", dnsName: LEAF_DNS_NAME },
    subjectKey: generateKeyPairSync("ec", { namedCurve: "prime256v1" }).publicKey,
    subjectName: LEAF_DNS_NAME,
    issuerKey: issuer.privateKey,
    issuerName: IDENTITY_NAME,
    notBeforeMs: NOW - DAY,
    notAfterMs: NOW + DAY,
    ...changes,
  });
}

describe("verifyPeer", () => {
  it("knows a pinned key and names one that is not", () => {
    expect(verify([leafDer, identityDer])).toEqual({ kind: "known", pin: identity.pin });
    expect(verify([leafDer, identityDer], NOW, [other.pin])).toEqual({ kind: "unknown", pin: identity.pin });
  });

  it("asks for time and pins anew of a chain that it has seen, and takes no other for it", async () => {
    const again = await ephemeralIdentity(NOW);
    const chain = [derOf((await issueLeaf(again, NOW)).chainPem), derOf(again.certificatePem)];
    for (let time = 0; time < 2; time++) {
      expect(verify(chain, NOW, [again.pin])).toEqual({ kind: "known", pin: again.pin });
      expect(verify(chain, NOW, [])).toEqual({ kind: "unknown", pin: again.pin });
      expect(verify(chain, NOW + 365 * DAY, [again.pin])).toMatchObject({ problem: "expired" });
      expect(verify([...chain].reverse(), NOW, [again.pin])).toMatchObject({ kind: "refused" });
      expect(verify([leafDer, ...chain.slice(1)], NOW, [again.pin])).toMatchObject({
        problem: "not_signed_by_identity",
      });
    }
  });

  it("refuses an empty chain", () => {
    expect(verify([])).toMatchObject({ kind: "refused", problem: "no_certificate" });
  });

  it.each([
    ["a leaf alone", [leafDer]],
    ["the identity alone", [identityDer]],
    ["three certificates", [leafDer, identityDer, identityDer]],
    ["the identity in the place of the leaf", [identityDer, identityDer]],
  ])("refuses %s", (_, chain) => {
    expect(verify(chain)).toMatchObject({ kind: "refused", problem: "chain" });
  });

  it("refuses what is not a certificate", () => {
    const garbage = Buffer.from("garbage");
    expect(verify([garbage, identityDer])).toMatchObject({ kind: "refused", problem: "malformed" });
    expect(verify([leafDer, garbage])).toMatchObject({ kind: "refused", problem: "malformed" });
  });

  it("refuses a leaf that another key signed, whichever of the two is pinned", async () => {
    const pins = [identity.pin, other.pin];
    const forged = await certificate(other);
    expect(verify([forged, identityDer], NOW, pins)).toMatchObject({ problem: "not_signed_by_identity" });
    expect(verify([leafDer, derOf(other.certificatePem)], NOW, pins)).toMatchObject({
      problem: "not_signed_by_identity",
    });
  });

  it("refuses a changed leaf, whatever byte of the signed part or the signature was changed", () => {
    for (let position = 4; position < leafDer.length; position += 7) {
      const changed = Buffer.from(leafDer);
      changed[position] = changed.readUInt8(position) ^ 1;
      expect(verify([changed, identityDer]).kind, `byte ${position}`).toBe("refused");
    }
  });

  it("refuses an identity certificate that its own key did not sign", async () => {
    const publicKey = createPublicKey(identity.privateKey);
    const crossSigned = await certificate(other, {
      role: { kind: "identity" },
      subjectKey: publicKey,
      subjectName: IDENTITY_NAME,
    });
    expect(verify([leafDer, crossSigned])).toMatchObject({ problem: "identity_not_self_signed" });
  });

  it("refuses an identity certificate that is no CA", async () => {
    const plain = await certificate(identity, { subjectKey: createPublicKey(identity.privateKey) });
    expect(verify([leafDer, plain])).toMatchObject({ problem: "identity_not_self_signed" });
  });

  it("refuses an identity key that is not P-256", async () => {
    const { publicKey } = generateKeyPairSync("ec", { namedCurve: "secp384r1" });
    const p384 = await certificate(identity, { role: { kind: "identity" }, subjectKey: publicKey });
    expect(verify([leafDer, p384])).toMatchObject({ problem: "key_type" });
  });

  it.each([
    ["23 h before the leaf's validity", -DAY - 23 * HOUR, "known"],
    ["24 h before it", -DAY - 24 * HOUR, "known"],
    ["25 h before it", -DAY - 25 * HOUR, "not_yet_valid"],
    ["24 h after its end", 30 * DAY + 24 * HOUR, "known"],
    ["25 h after its end", 30 * DAY + 25 * HOUR, "expired"],
    ["never", Number.NaN, "not_yet_valid"],
  ])("judges a leaf at %s", async (_, offsetMs, expected) => {
    const old = await ephemeralIdentity(NOW - 365 * DAY);
    const chain = [derOf((await issueLeaf(old, NOW)).chainPem), derOf(old.certificatePem)];
    const verdict = verify(chain, NOW + offsetMs, [old.pin]);
    expect(verdict.kind === "refused" ? verdict.problem : verdict.kind).toBe(expected);
  });

  it("judges the identity certificate's validity too, and takes another tolerance", async () => {
    const young = await ephemeralIdentity(NOW + 3 * DAY);
    const leaf = derOf((await issueLeaf(young, NOW)).chainPem);
    const chain = [leaf, derOf(young.certificatePem)];
    expect(verify(chain, NOW, [young.pin])).toMatchObject({ problem: "not_yet_valid" });
    const lenient = verifyPeer({ chain, nowMs: NOW, pins: new Set([young.pin]), clockSkewMs: 3 * DAY });
    expect(lenient).toEqual({ kind: "known", pin: young.pin });
  });

  it("asks for the pin only after everything else holds", async () => {
    const asked: Pin[] = [];
    const pins = {
      has: (pin: Pin): boolean => {
        asked.push(pin);
        return true;
      },
    };
    verifyPeer({ chain: [await certificate(other), identityDer], nowMs: NOW, pins });
    verifyPeer({ chain: [leafDer, identityDer], nowMs: NOW + 365 * DAY, pins });
    expect(asked).toEqual([]);
  });
});
