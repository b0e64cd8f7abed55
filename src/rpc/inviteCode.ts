import { createHash } from "node:crypto";

import { parsePin, type Pin } from "./tls/pin.js";

/** What an invite's code carries. */
export interface Invite {
  /** `host:port` to dial. */
  readonly address: string;
  /** Pin of the inviting gateway's identity key. */
  readonly pin: Pin;
  /** 16 bytes. */
  readonly secret: Uint8Array;
}

/** What a text is, as an invite's code. */
export type ParsedInvite =
  | { readonly kind: "invite"; readonly invite: Invite }
  /** It is none. */
  | { readonly kind: "none" }
  /** It is one of another version of the format. */
  | { readonly kind: "version" }
  /** It was one before a character was lost or changed. */
  | { readonly kind: "mistyped" };

const FORM = /^tal([1-9][0-9]?)\.([A-Za-z0-9_-]+)$/;
const VERSION = "1";
/** Size of an invite's secret, bytes. */
export const INVITE_SECRET_BYTES = 16;
const PIN_BYTES = 32;
const CHECK_BYTES = 4;
const PIN_PREFIX = "sha256:";

/** Writes an invite as one text: `tal1.` and the base64url of pin, secret, address and the first bytes of their digest. */
export function formatInvite({ address, pin, secret }: Invite): string {
  const content = Buffer.concat([
    Buffer.from(pin.slice(PIN_PREFIX.length), "base64url"),
    secret,
    Buffer.from(address, "utf8"),
  ]);
  return `tal${VERSION}.${Buffer.concat([content, check(content)]).toString("base64url")}`;
}

/** Reads an invite's code; white space around it and within, as line breaks of a mail make it, does not matter. */
export function parseInvite(text: string): ParsedInvite {
  const [, version, encoded = ""] = FORM.exec(text.replaceAll(/\s+/g, "")) ?? [];
  if (version === undefined) return { kind: "none" };
  if (version !== VERSION) return { kind: "version" };
  const bytes = Buffer.from(encoded, "base64url");
  const content = bytes.subarray(0, Math.max(0, bytes.length - CHECK_BYTES));
  const canonical = bytes.toString("base64url") === encoded;
  if (!canonical || !bytes.subarray(content.length).equals(check(content))) return { kind: "mistyped" };
  const pin = parsePin(PIN_PREFIX + content.subarray(0, PIN_BYTES).toString("base64url"));
  const secret = content.subarray(PIN_BYTES, PIN_BYTES + INVITE_SECRET_BYTES);
  const address = content.subarray(PIN_BYTES + INVITE_SECRET_BYTES).toString("utf8");
  if (pin === undefined || address === "") return { kind: "mistyped" };
  return { kind: "invite", invite: { address, pin, secret: Uint8Array.from(secret) } };
}

/** What is stored of a secret: its SHA-256. The secret is random and long, so nothing slower is needed. */
export function hashOfInviteSecret(secret: Uint8Array): Buffer {
  return createHash("sha256").update(secret).digest();
}

function check(content: Uint8Array): Buffer {
  return createHash("sha256").update("talaria invite 1\n").update(content).digest().subarray(0, CHECK_BYTES);
}
