import { createHash, createPublicKey, randomBytes, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { DER_TAG, der, derBitString, derExplicit, derObjectIdentifier, derSequence, derTime } from "./der.js";

/** Who a certificate is for, which decides its extensions. */
export type CertificateRole =
  /** Signs leaves only: CA with path length 0, key usage keyCertSign. */
  | { readonly kind: "identity" }
  /** Speaks TLS on either side: not a CA, digitalSignature, serverAuth and clientAuth, one DNS name. */
  | { readonly kind: "leaf"; readonly dnsName: string };

/** What goes into a certificate. */
export interface CertificateContents {
  /** Decides the extensions. */
  readonly role: CertificateRole;
  /** Key the certificate is about, P-256. */
  readonly subjectKey: KeyObject;
  /** Common name of the subject; carries no meaning, pins do. */
  readonly subjectName: string;
  /** Private P-256 key that signs. Equal to the subject's for a self-signed certificate. */
  readonly issuerKey: KeyObject;
  /** Common name of the issuer; equals the subject name of the issuer's own certificate. */
  readonly issuerName: string;
  /** First moment of validity, milliseconds since the Unix epoch, cut to seconds. */
  readonly notBeforeMs: number;
  /** Last moment of validity, milliseconds since the Unix epoch, cut to seconds. */
  readonly notAfterMs: number;
}

const OID = {
  commonName: "2.5.4.3",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyIdentifier: "2.5.29.35",
  extKeyUsage: "2.5.29.37",
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
} as const;

const SIGNATURE_ALGORITHM = derSequence(derObjectIdentifier(OID.ecdsaWithSha256));

/**
 * Builds and signs an X.509 v3 certificate (RFC 5280) with ECDSA P-256 and SHA-256, and returns its DER.
 *
 * Written out here because the profile is fixed and small, and every certificate library at hand brings a dependency
 * injection container and a global Reflect polyfill along. Only encoding is ours; keys and signatures are OpenSSL's.
 */
export function buildCertificate(contents: CertificateContents): Buffer {
  const toBeSigned = derSequence(
    derExplicit(0, der(DER_TAG.integer, Buffer.from([2]))),
    serialNumber(),
    SIGNATURE_ALGORITHM,
    commonName(contents.issuerName),
    derSequence(derTime(contents.notBeforeMs), derTime(contents.notAfterMs)),
    commonName(contents.subjectName),
    spkiOf(contents.subjectKey),
    derExplicit(3, derSequence(...extensions(contents))),
  );
  const signature = sign("sha256", toBeSigned, contents.issuerKey);
  return derSequence(toBeSigned, SIGNATURE_ALGORITHM, derBitString(signature));
}

/** DER in the armour that `tls` and the `openssl` command read. */
export function certificatePem(certificateDer: Uint8Array): string {
  const lines =
    Buffer.from(certificateDer)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}

/** 128 bits; the top bits are forced to 01 so that the integer is positive and minimal in DER. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = (bytes.readUInt8(0) & 0x3f) | 0x40;
  return der(DER_TAG.integer, bytes);
}

function commonName(name: string): Buffer {
  const attribute = derSequence(
    derObjectIdentifier(OID.commonName),
    der(DER_TAG.utf8String, Buffer.from(name, "utf8")),
  );
  return derSequence(der(DER_TAG.set, attribute));
}

function spkiOf(key: KeyObject): Buffer {
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  return publicKey.export({ type: "spki", format: "der" });
}

/** 160 bits of a SHA-256, as RFC 7093 suggests. All identities share one name, so this is what tells issuers apart. */
function keyIdentifier(key: KeyObject): Buffer {
  return createHash("sha256").update(spkiOf(key)).digest().subarray(0, 20);
}

function extensions(contents: CertificateContents): Buffer[] {
  const subjectKeyIdentifier = extension(
    OID.subjectKeyIdentifier,
    der(DER_TAG.octetString, keyIdentifier(contents.subjectKey)),
  );
  const { role } = contents;
  switch (role.kind) {
    case "identity": {
      const pathLengthZero = der(DER_TAG.integer, Buffer.from([0]));
      return [
        critical(OID.basicConstraints, derSequence(der(DER_TAG.boolean, Buffer.from([0xff])), pathLengthZero)),
        critical(OID.keyUsage, derBitString(Buffer.from([0b0000_0100]), 2)),
        subjectKeyIdentifier,
      ];
    }
    case "leaf":
      return [
        critical(OID.basicConstraints, derSequence()),
        critical(OID.keyUsage, derBitString(Buffer.from([0b1000_0000]), 7)),
        extension(
          OID.extKeyUsage,
          derSequence(derObjectIdentifier(OID.serverAuth), derObjectIdentifier(OID.clientAuth)),
        ),
        extension(OID.subjectAltName, derSequence(der(0x82, Buffer.from(role.dnsName, "ascii")))),
        subjectKeyIdentifier,
        extension(OID.authorityKeyIdentifier, derSequence(der(0x80, keyIdentifier(contents.issuerKey)))),
      ];
    default: {
      const unreachable: never = role;
      return unreachable;
    }
  }
}

function extension(identifier: string, value: Uint8Array): Buffer {
  return derSequence(derObjectIdentifier(identifier), der(DER_TAG.octetString, value));
}

function critical(identifier: string, value: Uint8Array): Buffer {
  const isCritical = der(DER_TAG.boolean, Buffer.from([0xff]));
  return derSequence(derObjectIdentifier(identifier), isCritical, der(DER_TAG.octetString, value));
}
