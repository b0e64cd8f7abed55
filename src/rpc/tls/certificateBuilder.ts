import { X509Certificate, createHash, createPublicKey, randomBytes, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { bitString, contextTag, DER, der, objectIdentifier, time, unsignedInteger } from "./der.js";

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

/** Bytes of a serial number, of at most 20. Source: RFC 5280 section 4.1.2.2. */
const SERIAL_BYTES = 16;

/** ECDSA with SHA-256. Source: RFC 5758 section 3.2. */
const ALGORITHM = der(DER.sequence, objectIdentifier("1.2.840.10045.4.3.2"));

const TRUE = der(DER.boolean, Buffer.of(0xff));

/**
 * Builds and signs an X.509 v3 certificate (RFC 5280) with ECDSA P-256 and SHA-256, and returns its DER. Its serial
 * number is random.
 *
 * Rejects with the error of node:crypto if the issuer's key is not a private key.
 */
export async function buildCertificate(contents: CertificateContents): Promise<Buffer> {
  const { subjectKey, subjectName, issuerKey, issuerName, notBeforeMs, notAfterMs } = contents;
  const version3 = der(contextTag(0, true), unsignedInteger(Buffer.of(2)));
  const toBeSigned = der(
    DER.sequence,
    version3,
    unsignedInteger(randomBytes(SERIAL_BYTES)),
    ALGORITHM,
    commonName(issuerName),
    der(DER.sequence, time(notBeforeMs), time(notAfterMs)),
    commonName(subjectName),
    spkiOf(subjectKey),
    der(contextTag(3, true), der(DER.sequence, ...extensions(contents))),
  );
  const signature = sign("sha256", toBeSigned, { key: issuerKey, dsaEncoding: "der" });
  return der(DER.sequence, toBeSigned, ALGORITHM, bitString(signature));
}

/** DER in the armour that `tls` and the `openssl` command read. Throws if it is not a certificate. */
export function certificatePem(certificateDer: Uint8Array): string {
  return new X509Certificate(certificateDer).toString();
}

function commonName(name: string): Buffer {
  const attribute = der(DER.sequence, objectIdentifier("2.5.4.3"), der(DER.utf8String, Buffer.from(name, "utf8")));
  return der(DER.sequence, der(DER.set, attribute));
}

function spkiOf(key: KeyObject): Buffer {
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  return publicKey.export({ type: "spki", format: "der" });
}

/**
 * 160 bits of a SHA-256, as RFC 7093 suggests. All identities share one name, so this is what tells issuers apart.
 */
function keyIdentifier(key: KeyObject): Buffer {
  return createHash("sha256").update(spkiOf(key)).digest().subarray(0, 20);
}

/** One extension. Source of each: RFC 5280 section 4.2.1. */
function extension(number: number, critical: boolean, value: Buffer): Buffer {
  const parts = [objectIdentifier(`2.5.29.${String(number)}`), ...(critical ? [TRUE] : [])];
  return der(DER.sequence, ...parts, der(DER.octetString, value));
}

function extensions({ role, subjectKey, issuerKey }: CertificateContents): readonly Buffer[] {
  const subjectKeyIdentifier = extension(14, false, der(DER.octetString, keyIdentifier(subjectKey)));
  switch (role.kind) {
    case "identity":
      return [
        // A CA of path length 0.
        extension(19, true, der(DER.sequence, TRUE, unsignedInteger(Buffer.of(0)))),
        // Bit 5, keyCertSign.
        extension(15, true, bitString(Buffer.of(0x04), 2)),
        subjectKeyIdentifier,
      ];
    case "leaf":
      return [
        // No CA, which is what an empty value says.
        extension(19, true, der(DER.sequence)),
        // Bit 0, digitalSignature.
        extension(15, true, bitString(Buffer.of(0x80), 7)),
        // serverAuth and clientAuth.
        extension(
          37,
          false,
          der(DER.sequence, objectIdentifier("1.3.6.1.5.5.7.3.1"), objectIdentifier("1.3.6.1.5.5.7.3.2")),
        ),
        extension(17, false, der(DER.sequence, der(contextTag(2, false), Buffer.from(role.dnsName, "ascii")))),
        subjectKeyIdentifier,
        extension(35, false, der(DER.sequence, der(contextTag(0, false), keyIdentifier(issuerKey)))),
      ];
    default: {
      const unreachable: never = role;
      return unreachable;
    }
  }
}
