import { generateKeyPairSync } from "node:crypto";
import { buildCertificate, certificatePem } from "./certificateBuilder.js";
import { IDENTITY_NAME } from "./identityKey.js";
import type { Identity } from "./identityKey.js";

/** The name in every leaf and in the SNI our clients send. It identifies nothing; pins do. */
export const LEAF_DNS_NAME = "talaria";

/** A short-lived TLS key with its certificate chain. The key is never written anywhere. */
export interface Leaf {
  /** PKCS #8 PEM of the leaf's own P-256 key. */
  readonly privateKeyPem: string;
  /** The leaf certificate, then the identity certificate, PEM. */
  readonly chainPem: string;
  /** First moment of validity, milliseconds since the Unix epoch. */
  readonly notBeforeMs: number;
  /** Last moment of validity, milliseconds since the Unix epoch. */
  readonly notAfterMs: number;
}

/** How long leaves live. */
export interface LeafPolicy {
  /** From issue to expiry, milliseconds, more than 0. */
  readonly validityMs: number;
  /** How long before its issue a leaf is valid already, milliseconds, for peers whose clock lags. */
  readonly backdateMs: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** 30 days, backdated by one. */
export const DEFAULT_LEAF_POLICY: LeafPolicy = { validityMs: 30 * DAY_MS, backdateMs: DAY_MS };

/** Issues a leaf with a fresh key, valid from `nowMs` less the backdate, for the validity of the policy. */
export async function issueLeaf(
  identity: Identity,
  nowMs: number,
  policy: LeafPolicy = DEFAULT_LEAF_POLICY,
): Promise<Leaf> {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const notBeforeMs = nowMs - policy.backdateMs;
  const notAfterMs = nowMs + policy.validityMs;
  const certificateDer = await buildCertificate({
    role: { kind: "leaf", dnsName: LEAF_DNS_NAME },
    subjectKey: privateKey,
    subjectName: LEAF_DNS_NAME,
    issuerKey: identity.privateKey,
    issuerName: IDENTITY_NAME,
    notBeforeMs,
    notAfterMs,
  });
  return {
    privateKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    chainPem: certificatePem(certificateDer) + (await identity.certificate()),
    notBeforeMs,
    notAfterMs,
  };
}

/**
 * Whether a leaf should be replaced: less than a third of its validity is left, or the clock has gone back to before
 * it, in which case peers with a right clock would refuse it.
 */
export function needsRotation(leaf: Leaf, nowMs: number, policy: LeafPolicy = DEFAULT_LEAF_POLICY): boolean {
  return leaf.notAfterMs - nowMs < policy.validityMs / 3 || nowMs < leaf.notBeforeMs;
}

/** Holds the leaf to present. Rotation is by the clock at each {@link LeafSource.refresh}, not by a timer. */
export interface LeafSource {
  /** The identity that leaves are issued under. */
  readonly identity: Identity;
  /** The leaf that is held, the same object until a refresh replaces it. Throws before the first refresh. */
  currentLeaf(): Leaf;
  /**
   * Replaces the leaf if rotation is due or none is held, and resolves with the leaf that is held then. To be awaited
   * before each connection, because a process may have slept longer than a leaf lives. Calls that overlap issue one
   * leaf. Rejects if issuing fails; the held leaf stays, and the next call tries again.
   */
  refresh(): Promise<Leaf>;
}

/**
 * A source of leaves under one identity, shared by a gateway's listener and its clients. It holds no leaf before its first
 * refresh: a gateway that talks to no peer issues none, and does not load what issues them.
 *
 * @param now the current time, milliseconds since the Unix epoch
 */
export function lateLeafSource(
  identity: Identity,
  now: () => number,
  policy: LeafPolicy = DEFAULT_LEAF_POLICY,
): LeafSource {
  let held: Leaf | undefined;
  let issuing: Promise<Leaf> | undefined;

  const replace = async (nowMs: number): Promise<Leaf> => {
    try {
      held = await issueLeaf(identity, nowMs, policy);
      return held;
    } finally {
      issuing = undefined;
    }
  };

  return {
    identity,
    currentLeaf() {
      if (held === undefined) throw new Error("no leaf is held: refresh before you connect or listen");
      return held;
    },
    async refresh() {
      const nowMs = now();
      if (held !== undefined && !needsRotation(held, nowMs, policy)) return held;
      issuing ??= replace(nowMs);
      return issuing;
    },
  };
}

/** A {@link lateLeafSource} that holds its first leaf. */
export async function leafSource(
  identity: Identity,
  now: () => number,
  policy: LeafPolicy = DEFAULT_LEAF_POLICY,
): Promise<LeafSource> {
  const source = lateLeafSource(identity, now, policy);
  await source.refresh();
  return source;
}
