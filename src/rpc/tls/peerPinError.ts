import type { PeerVerdict } from "./peerVerifier.js";
import type { Pin } from "./pin.js";

/** A verdict under which a connection is not used. */
export type RejectedVerdict = Exclude<PeerVerdict, { kind: "known" }>;

/**
 * A server did not prove the key that was expected of it. No request was sent. grpc-js turns this into UNAVAILABLE
 * with the message in its details; the typed verdict reaches the caller through the observer of the credentials.
 */
export class PeerPinError extends Error {
  override readonly name = "PeerPinError";
  /** The key that was expected. */
  readonly expected: Pin;
  /** What the server proved instead. */
  readonly verdict: RejectedVerdict;

  /**
   * @param expected the key that was expected
   * @param verdict what the server proved instead
   */
  constructor(expected: Pin, verdict: RejectedVerdict) {
    super(
      verdict.kind === "unknown"
        ? `the server's identity key is ${verdict.pin}, expected ${expected}`
        : `the server proved no identity key (${verdict.problem}: ${verdict.detail}), expected ${expected}`,
    );
    this.expected = expected;
    this.verdict = verdict;
  }
}
