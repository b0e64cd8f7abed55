import { createHash, generateKeyPairSync, type KeyObject, sign, X509Certificate } from "node:crypto";
import { certificatePem } from "../../src/rpc/tls/certificateBuilder.js";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { issueLeaf, type Leaf, type LeafSource } from "../../src/rpc/tls/leafCertificate.js";
import { pinOf } from "../../src/rpc/tls/pin.js";

/** A key as it stands in a certificate: itself, and what issuers and subjects are told apart by. */
interface PublicParts {
  readonly spki: Buffer;
  readonly keyId: Buffer;
}

/**
 * Makes leaves of many identities from one pattern, whose keys are replaced and which is signed again: a certificate of the library's takes
 * twenty times as long, which for thousands is most of a test. All hold to the end of the pattern's leaf.
 */
export async function leafStamp(nowMs: number): Promise<() => LeafSource> {
  const pattern = await ephemeralIdentity(nowMs);
  const patternLeaf = await issueLeaf(pattern, nowMs);
  const identityDer = new X509Certificate(pattern.certificatePem).raw;
  const leafDer = new X509Certificate(patternLeaf.chainPem).raw;
  const oldIdentity = partsOf(new X509Certificate(identityDer).publicKey);
  const oldLeaf = partsOf(new X509Certificate(leafDer).publicKey);
  return () => {
    const identity = freshKey();
    const leafKey = freshKey();
    const toIdentity = [oldIdentity, identity.parts] as const;
    const chainPem = certificatePem(stamped(identityDer, [toIdentity], identity.privateKey));
    const leaf: Leaf = {
      ...patternLeaf,
      privateKeyPem: leafKey.privateKey.export({ type: "pkcs8", format: "pem" }) as string,
      chainPem:
        certificatePem(stamped(leafDer, [[oldLeaf, leafKey.parts], toIdentity], identity.privateKey)) + chainPem,
    };
    return {
      identity: {
        pin: pinOf(identity.parts.spki),
        privateKey: identity.privateKey,
        certificate: () => Promise.resolve(chainPem),
      },
      currentLeaf: () => leaf,
      refresh: () => Promise.resolve(leaf),
    };
  };
}

function freshKey(): { readonly privateKey: KeyObject; readonly parts: PublicParts } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  return { privateKey, parts: partsOf(publicKey) };
}

function partsOf(key: KeyObject): PublicParts {
  const spki = key.export({ type: "spki", format: "der" });
  return { spki, keyId: createHash("sha256").update(spki).digest().subarray(0, 20) };
}

/** The certificate with other keys in the places of those that it has; all are of one length. */
function stamped(
  certificate: Buffer,
  keys: readonly (readonly [PublicParts, PublicParts])[],
  issuer: KeyObject,
): Buffer {
  const outer = derAt(certificate, 0);
  const signed = derAt(certificate, outer.contents);
  const contents = Buffer.from(certificate.subarray(outer.contents, signed.end));
  for (const [before, after] of keys) {
    replace(contents, before.spki, after.spki);
    replace(contents, before.keyId, after.keyId);
  }
  const algorithm = derAt(certificate, signed.end);
  const signature = Buffer.concat([Buffer.of(0), sign("sha256", contents, issuer)]);
  const body = [contents, certificate.subarray(signed.end, algorithm.end), der(0x03, signature)];
  return der(0x30, Buffer.concat(body));
}

function replace(contents: Buffer, before: Buffer, after: Buffer): void {
  for (let at = contents.indexOf(before); at >= 0; at = contents.indexOf(before, at + 1)) after.copy(contents, at);
}

/** Where the contents of the element at a place begin, and where it ends. */
function derAt(bytes: Buffer, at: number): { readonly contents: number; readonly end: number } {
  const first = bytes.readUInt8(at + 1);
  if (first < 0x80) return { contents: at + 2, end: at + 2 + first };
  const size = first & 0x7f;
  const contents = at + 2 + size;
  return { contents, end: contents + bytes.readUIntBE(at + 2, size) };
}

function der(tag: number, contents: Buffer): Buffer {
  const { length } = contents;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), contents]);
}
