import { createHash } from "node:crypto";
import type { KeyObject } from "node:crypto";

declare const pinBrand: unique symbol;

/**
 * The name of an identity key: `sha256:` and the unpadded base64url of the SHA-256 over the key's DER
 * SubjectPublicKeyInfo (43 characters, 50 in all). A pin names a key, not a certificate, so certificates may be
 * reissued without pairing again.
 */
export type Pin = string & { readonly [pinBrand]: true };

/** Anything that can say whether a pin is in it: a set in tests, the peer table in a gateway. */
export interface PinLookup {
  /** True if the key of that name is paired and not revoked at the time of the call. */
  has(pin: Pin): boolean;
}

const PREFIX = "sha256:";

/** Length of the base64url part of a pin, in characters. */
export const PIN_DIGEST_LENGTH = 43;

/**
 * The pin of a public key.
 *
 * @param publicKeySpkiDer the key as DER SubjectPublicKeyInfo
 */
export function pinOf(publicKeySpkiDer: Uint8Array): Pin {
  return (PREFIX + createHash("sha256").update(publicKeySpkiDer).digest("base64url")) as Pin;
}

/** The pin of a public key object. Throws on a private or secret key, which has no SubjectPublicKeyInfo. */
export function pinOfKey(publicKey: KeyObject): Pin {
  return pinOf(publicKey.export({ type: "spki", format: "der" }));
}

/**
 * Whether a text is a pin in its only spelling. The last character of 43 carries two unused bits: they must be zero,
 * otherwise four texts would name one key and a comparison of texts would not be a comparison of keys.
 */
export function isPin(text: string): text is Pin {
  if (!text.startsWith(PREFIX)) return false;
  const digest = text.slice(PREFIX.length);
  if (digest.length !== PIN_DIGEST_LENGTH) return false;
  const bytes = Buffer.from(digest, "base64url");
  return bytes.length === 32 && bytes.toString("base64url") === digest;
}

/** Reads a pin from configuration or an invite; surrounding white space is not forgiven. Undefined if it is not one. */
export function parsePin(text: string): Pin | undefined {
  return isPin(text) ? text : undefined;
}
