import { X509Certificate, createHash, createPublicKey, webcrypto } from "node:crypto";
import type { KeyObject } from "node:crypto";
import type * as X509 from "@peculiar/x509";

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

type Library = typeof X509;

let library: Promise<Library> | undefined;

/**
 * Loads the certificate library on the first certificate, because a process that issues none should not pay for it. Its
 * dependency injection wants `Reflect.getMetadata` in place before its own first line runs.
 */
function loadLibrary(): Promise<Library> {
  library ??= (async () => {
    await import("reflect-metadata");
    const x509 = await import("@peculiar/x509");
    x509.cryptoProvider.set(webcrypto);
    return x509;
  })();
  return library;
}

/**
 * Builds and signs an X.509 v3 certificate (RFC 5280) with ECDSA P-256 and SHA-256, and returns its DER. Its serial
 * number is random.
 *
 * Rejects with the error of Web Crypto if the issuer's key is not a private P-256 key.
 */
export async function buildCertificate(contents: CertificateContents): Promise<Buffer> {
  const x509 = await loadLibrary();
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const issuerKey = contents.issuerKey.export({ type: "pkcs8", format: "der" });
  const certificate = await x509.X509CertificateGenerator.create({
    issuer: commonName(x509, contents.issuerName),
    subject: commonName(x509, contents.subjectName),
    notBefore: wholeSeconds(contents.notBeforeMs),
    notAfter: wholeSeconds(contents.notAfterMs),
    publicKey: spkiOf(contents.subjectKey),
    signingKey: await webcrypto.subtle.importKey("pkcs8", issuerKey, algorithm, false, ["sign"]),
    signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
    extensions: extensions(x509, contents),
  });
  return Buffer.from(certificate.rawData);
}

/** DER in the armour that `tls` and the `openssl` command read. Throws if it is not a certificate. */
export function certificatePem(certificateDer: Uint8Array): string {
  return new X509Certificate(certificateDer).toString();
}

function commonName(x509: Library, name: string): X509.Name {
  return new x509.Name([{ CN: [{ utf8String: name }] }]);
}

/** RFC 5280 section 4.1.2.5 forbids fractions of a second, which the library would write from 2050 on. */
function wholeSeconds(timeMs: number): Date {
  return new Date(Math.floor(timeMs / 1000) * 1000);
}

function spkiOf(key: KeyObject): Buffer {
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  return publicKey.export({ type: "spki", format: "der" });
}

/**
 * 160 bits of a SHA-256 in hexadecimal, as RFC 7093 suggests; the library's own are of SHA-1. All identities share one
 * name, so this is what tells issuers apart.
 */
function keyIdentifier(key: KeyObject): string {
  return createHash("sha256").update(spkiOf(key)).digest("hex").slice(0, 40);
}

function extensions(x509: Library, contents: CertificateContents): X509.Extension[] {
  const subjectKeyIdentifier = new x509.SubjectKeyIdentifierExtension(keyIdentifier(contents.subjectKey));
  const { role } = contents;
  switch (role.kind) {
    case "identity":
      return [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
        subjectKeyIdentifier,
      ];
    case "leaf":
      return [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
        new x509.SubjectAlternativeNameExtension([{ type: "dns", value: role.dnsName }]),
        subjectKeyIdentifier,
        new x509.AuthorityKeyIdentifierExtension(keyIdentifier(contents.issuerKey)),
      ];
    default: {
      const unreachable: never = role;
      return unreachable;
    }
  }
}
