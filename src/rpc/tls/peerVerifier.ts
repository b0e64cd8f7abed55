import { createHash, X509Certificate } from "node:crypto";
import { pinOfKey } from "./pin.js";
import type { Pin, PinLookup } from "./pin.js";

/** Why a presented chain proves no identity. */
export type ChainProblem =
  /** No certificate was presented. */
  | "no_certificate"
  /** The handshake resumed an earlier session, so that nothing was presented on this connection. */
  | "session_resumed"
  /** Not exactly a leaf and its identity certificate. */
  | "chain"
  /** A certificate cannot be parsed. */
  | "malformed"
  /** The identity key is not ECDSA P-256. */
  | "key_type"
  /** The identity certificate is not a CA certificate signed by its own key. */
  | "identity_not_self_signed"
  /** The leaf is not signed by the key of the identity certificate that came with it. */
  | "not_signed_by_identity"
  /** A certificate's validity begins later than the clock skew allows. */
  | "not_yet_valid"
  /** A certificate's validity ended earlier than the clock skew allows. */
  | "expired";

/** What a presented chain proves. */
export type PeerVerdict =
  /** The peer holds a key that is in the lookup. */
  | { readonly kind: "known"; readonly pin: Pin }
  /** The peer holds a key, proved, that is not in the lookup. */
  | { readonly kind: "unknown"; readonly pin: Pin }
  /** Nothing is proved. `detail` is for our own log, never for the peer. */
  | { readonly kind: "refused"; readonly problem: ChainProblem; readonly detail: string };

/** How wrong a peer's or our own clock may be in either direction, on top of the backdating of leaves: a day. */
export const DEFAULT_CLOCK_SKEW_MS = 24 * 60 * 60 * 1000;

/** What {@link verifyPeer} judges. */
export interface PresentedPeer {
  /** Certificates in the order of the chain, leaf first, DER. */
  readonly chain: readonly Uint8Array[];
  /** The current time, milliseconds since the Unix epoch. */
  readonly nowMs: number;
  /** The keys that are known. */
  readonly pins: PinLookup;
  /** Tolerance on both ends of validity, milliseconds; default {@link DEFAULT_CLOCK_SKEW_MS}. */
  readonly clockSkewMs?: number;
}

/** What the bytes of a chain prove, whenever and whomever they are shown to. */
type ProvedChain = { readonly kind: "proved"; readonly pin: Pin; readonly validity: readonly Validity[] };

type Refusal = Extract<PeerVerdict, { kind: "refused" }>;

interface Validity {
  readonly what: "leaf" | "identity";
  readonly from: string;
  readonly to: string;
}

/** Chains kept of those that were proved last. */
const KEPT = 8_192;
const proved = new Map<string, ProvedChain>();

/**
 * Judges the chain that a peer presented in a TLS handshake. The handshake proved that the peer holds the leaf's key;
 * this proves that the leaf is signed by the identity key, and names that key. Every check comes before the lookup: a
 * pin is public and its certificate can be copied, so a matching pin alone means nothing.
 */
export function verifyPeer(presented: PresentedPeer): PeerVerdict {
  const { chain, nowMs, pins, clockSkewMs = DEFAULT_CLOCK_SKEW_MS } = presented;
  if (chain.length === 0) return refused("no_certificate", "the peer presented no certificate");
  const [leafDer, identityDer] = chain;
  if (leafDer === undefined || identityDer === undefined || chain.length !== 2) {
    return refused("chain", `expected a leaf and its identity certificate, got a chain of ${chain.length}`);
  }
  const found = rememberedChain(leafDer, identityDer);
  if (found.kind === "refused") return found;
  const { pin, validity } = found;
  for (const one of validity) {
    const verdict = outsideValidity(one, nowMs, clockSkewMs);
    if (verdict !== undefined) return verdict;
  }
  return pins.has(pin) ? { kind: "known", pin } : { kind: "unknown", pin };
}

/**
 * Peers come back with the chain that they came with, and its signatures take longer to check than a digest does. Only what depends on
 * nothing but the bytes is remembered: that the peer holds the leaf's key is proved by each handshake, time and pins are asked each time.
 */
function rememberedChain(leafDer: Uint8Array, identityDer: Uint8Array): ProvedChain | Refusal {
  const digest = createHash("sha256").update(String(leafDer.length)).update(":").update(leafDer).update(identityDer);
  const name = digest.digest("base64");
  const known = proved.get(name);
  if (known !== undefined) return known;
  const found = proveChain(leafDer, identityDer);
  if (found.kind !== "proved") return found;
  const [oldest] = proved.keys();
  if (proved.size >= KEPT && oldest !== undefined) proved.delete(oldest);
  proved.set(name, found);
  return found;
}

function proveChain(leafDer: Uint8Array, identityDer: Uint8Array): ProvedChain | Refusal {
  try {
    const leaf = new X509Certificate(leafDer);
    const identity = new X509Certificate(identityDer);
    const key = identity.publicKey;
    if (key.asymmetricKeyType !== "ec" || key.asymmetricKeyDetails?.namedCurve !== "prime256v1") {
      return refused("key_type", `identity key of type ${key.asymmetricKeyType ?? "unknown"}`);
    }
    if (!identity.ca || !identity.verify(key)) {
      return refused("identity_not_self_signed", "the identity certificate is not a self-signed CA certificate");
    }
    if (leaf.ca) return refused("chain", "the leaf is a CA certificate");
    if (!leaf.verify(key)) return refused("not_signed_by_identity", "the leaf is not signed by the identity key");
    const validity = [
      { what: "leaf", from: leaf.validFrom, to: leaf.validTo },
      { what: "identity", from: identity.validFrom, to: identity.validTo },
    ] as const;
    return { kind: "proved", pin: pinOfKey(key), validity };
  } catch (error) {
    return refused("malformed", error instanceof Error ? error.message : "a certificate cannot be parsed");
  }
}

function outsideValidity({ what, from, to }: Validity, nowMs: number, clockSkewMs: number): Refusal | undefined {
  // Written so that a date that does not parse (NaN) refuses.
  if (!(nowMs >= Date.parse(from) - clockSkewMs))
    return refused("not_yet_valid", `${what} certificate valid from ${from}`);
  if (!(nowMs <= Date.parse(to) + clockSkewMs)) return refused("expired", `${what} certificate expired at ${to}`);
  return undefined;
}

function refused(problem: ChainProblem, detail: string): Refusal {
  return { kind: "refused", problem, detail };
}
