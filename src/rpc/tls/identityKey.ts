import { X509Certificate, createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { join } from "node:path";
import { buildCertificate, certificatePem } from "./certificateBuilder.js";
import { IdentityKeyError } from "./identityKeyError.js";
import { pinOfKey } from "./pin.js";
import type { Pin } from "./pin.js";
import { createOnce, ensurePrivateFolder, readOwnFile } from "./privateFiles.js";

/** The long-lived identity of a home towards peers. Peers pin its key; leaves come and go under it. */
export interface Identity {
  /** Name of the key, as it stands in invites and in the peer tables of others. */
  readonly pin: Pin;
  /** P-256 key that signs leaves and nothing else. */
  readonly privateKey: KeyObject;
  /**
   * Self-signed certificate of the key, presented after the leaf, PEM. Where a home has none yet, the first call makes and keeps it,
   * since that takes longer than all else of a start. Rejects as {@link openIdentity} does.
   */
  certificate(): Promise<string>;
}

/** An identity whose certificate is at hand. */
export interface EphemeralIdentity extends Identity {
  readonly certificatePem: string;
}

/** Common name of every identity certificate. Peers are told apart by their keys, never by a name they chose. */
export const IDENTITY_NAME = "talaria identity";

/** An identity certificate is valid from this long before it was made, so that a peer whose clock lags accepts it. */
const BACKDATE_MS = 24 * 60 * 60 * 1000;

/** RFC 5280 section 4.1.2.5 spells "no expiration" so. The pin is the trust; it ends by being revoked. */
const NO_EXPIRATION_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

/**
 * Opens the identity of a home, making it on first use: `tls/` (0700) and `tls/identity.key` (PKCS #8 PEM, 0600); `tls/identity.crt`
 * when it is asked for. Several processes may race; all get the same identity. A missing certificate is made again, a missing key beside
 * a certificate is not: its pins would be void without anybody knowing.
 *
 * @param home an existing folder
 * @param nowMs the current time, milliseconds since the Unix epoch
 * @throws IdentityKeyError if a file or the folder is not what it must be; errors of the file system as they are
 */
export async function openIdentity(home: string, nowMs: number): Promise<Identity> {
  const folder = join(home, "tls");
  const keyPath = join(folder, "identity.key");
  const certificatePath = join(folder, "identity.crt");
  await ensurePrivateFolder(folder);

  let keyText = await readOwnFile(keyPath, "secret");
  if (keyText === undefined) {
    if ((await readOwnFile(certificatePath, "public")) !== undefined) {
      throw new IdentityKeyError(
        "mismatch",
        certificatePath,
        "exists but its identity.key does not; restore the key, or remove the certificate and pair again with every peer",
      );
    }
    await createOnce(keyPath, newKeyPem());
    keyText = await readOwnFile(keyPath, "secret");
  }
  const privateKey = parseKey(keyPath, keyText ?? "");

  const kept = await readOwnFile(certificatePath, "public");
  let certificate =
    kept === undefined ? undefined : Promise.resolve(checkedCertificate(certificatePath, privateKey, kept));
  const make = async (): Promise<string> => {
    await createOnce(certificatePath, await selfSigned(privateKey, nowMs));
    return checkedCertificate(certificatePath, privateKey, (await readOwnFile(certificatePath, "public")) ?? "");
  };
  return {
    pin: pinOfKey(createPublicKey(privateKey)),
    privateKey,
    certificate() {
      certificate ??= make().catch((error: unknown) => {
        certificate = undefined;
        throw error;
      });
      return certificate;
    },
  };
}

/** An identity that lives in memory only. */
export async function ephemeralIdentity(nowMs: number): Promise<EphemeralIdentity> {
  const privateKey = createPrivateKey(newKeyPem());
  const certificatePem = await selfSigned(privateKey, nowMs);
  const pin = pinOfKey(createPublicKey(privateKey));
  return { pin, privateKey, certificatePem, certificate: () => Promise.resolve(certificatePem) };
}

function newKeyPem(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  return privateKey.export({ type: "pkcs8", format: "pem" }) as string;
}

async function selfSigned(privateKey: KeyObject, nowMs: number): Promise<string> {
  return certificatePem(
    await buildCertificate({
      role: { kind: "identity" },
      subjectKey: privateKey,
      subjectName: IDENTITY_NAME,
      issuerKey: privateKey,
      issuerName: IDENTITY_NAME,
      notBeforeMs: nowMs - BACKDATE_MS,
      notAfterMs: NO_EXPIRATION_MS,
    }),
  );
}

function parseKey(path: string, text: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(text);
  } catch {
    // The parser's own message is left out: it may quote what it could not read.
    throw new IdentityKeyError("malformed", path, "is not a PEM private key");
  }
  if (key.asymmetricKeyType !== "ec" || key.asymmetricKeyDetails?.namedCurve !== "prime256v1") {
    throw new IdentityKeyError("malformed", path, "is not an ECDSA P-256 key");
  }
  return key;
}

function checkedCertificate(path: string, privateKey: KeyObject, text: string): string {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(text);
  } catch {
    throw new IdentityKeyError("malformed", path, "is not a PEM certificate; remove it to have it made again");
  }
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new IdentityKeyError(
      "mismatch",
      path,
      "is not a certificate of identity.key; remove it to have it made again",
    );
  }
  return certificate.toString();
}
