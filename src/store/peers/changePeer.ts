import { defineCommand } from "../command.js";
import type { Tx } from "../sql.js";
import { grantsColumn, readPeer, type StoredPeer } from "./storedPeer.js";

/** What is to change of a peer; what is absent stays. */
export interface PeerChange {
  readonly name: string;
  readonly address?: string;
  /** `agents` undefined = all that are not private. */
  readonly grants?: { readonly agents: readonly string[] | undefined };
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Changes a peer's address or what it may reach. @returns the peer, or undefined where there is none of that name. */
export const updatePeer = defineCommand({
  name: "peer.update",
  run: (tx: Tx, { name, address, grants, now }: PeerChange): StoredPeer | undefined => {
    if (address !== undefined)
      tx.run("UPDATE peers SET address = ?, updated_at = ? WHERE name = ?", address, now, name);
    if (grants !== undefined) {
      tx.run("UPDATE peers SET grants = ?, updated_at = ? WHERE name = ?", grantsColumn(grants.agents), now, name);
    }
    return readPeer(tx, name);
  },
});

/** Which peer goes. */
export interface PeerRevocation {
  readonly name: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What came of a revocation. */
export type RevocationOutcome =
  | { readonly kind: "revoked"; readonly pin: string }
  /** It was revoked before. */
  | { readonly kind: "repeated" }
  | { readonly kind: "unknown" };

/** Ends a pairing, and forgets where the peer's receipts stood and how it was reached. */
export const revokePeer = defineCommand({
  name: "peer.revoke",
  run: (tx: Tx, { name, now }: PeerRevocation): RevocationOutcome => {
    const peer = readPeer(tx, name);
    if (peer === undefined) {
      const earlier = tx.get<object>("SELECT 1 FROM revoked_peers WHERE name = ?", name);
      return { kind: earlier === undefined ? "unknown" : "repeated" };
    }
    tx.run("DELETE FROM peers WHERE name = ?", name);
    tx.run("INSERT OR REPLACE INTO revoked_peers (pin, name, revoked_at) VALUES (?, ?, ?)", peer.pin, name, now);
    tx.run("DELETE FROM destinations WHERE gateway = ?", name);
    return { kind: "revoked", pin: peer.pin };
  },
});
