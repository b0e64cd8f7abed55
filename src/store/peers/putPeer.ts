import { defineCommand } from "../command.js";
import type { Tx } from "../sql.js";
import { grantsColumn, readPeer, readPeerByPin } from "./storedPeer.js";

/** A key that is about to be paired. */
export interface PeerDraft {
  /** Pin of its identity key. */
  readonly pin: string;
  /** Name that it shall have; where its key is paired already, it keeps its name. */
  readonly name: string;
  /** Whether an operator of this gateway chose the name; else the other side did. */
  readonly chosenHere: boolean;
  /** Empty where it cannot be dialled. */
  readonly address: string;
  readonly connector: boolean;
  /** Undefined = all; null keeps what a paired key has. */
  readonly grants: readonly string[] | undefined | null;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What came of storing a peer. */
export type PutPeerOutcome =
  | { readonly kind: "stored"; readonly name: string }
  /** The name belongs to another key; with `revoked`, to one that is none any more, and nobody here has given it to this one. */
  | { readonly kind: "nameTaken"; readonly name: string; readonly revoked?: true }
  /** The key is paired, under another name than the one that was chosen here. */
  | { readonly kind: "keyNamed"; readonly name: string };

/**
 * Pairs a key, or updates the peer of that key. The name of a key that was revoked goes to another key only where an operator says so:
 * with the name go the receipts of its messages.
 */
export function putPeer(tx: Tx, draft: PeerDraft): PutPeerOutcome {
  const { pin, name, chosenHere, address, connector, grants, now } = draft;
  const known = readPeerByPin(tx, pin);
  if (known !== undefined) {
    if (chosenHere && name !== known.name) return { kind: "keyNamed", name: known.name };
    tx.run(
      "UPDATE peers SET address = ?, connector = ?, grants = ?, updated_at = ? WHERE pin = ?",
      address,
      connector ? 1 : 0,
      grantsColumn(grants === null ? known.grants : grants),
      now,
      pin,
    );
    return { kind: "stored", name: known.name };
  }
  const revoked = tx.get<object>("SELECT 1 FROM revoked_peers WHERE name = ? AND pin <> ?", name, pin);
  if (readPeer(tx, name) !== undefined) return { kind: "nameTaken", name };
  if (revoked !== undefined && !chosenHere) return { kind: "nameTaken", name, revoked: true };
  tx.run(
    "INSERT INTO peers (name, pin, address, connector, grants, paired_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
    name,
    pin,
    address,
    connector ? 1 : 0,
    grantsColumn(grants ?? undefined),
    now,
    now,
  );
  tx.run("DELETE FROM revoked_peers WHERE pin = ?", pin);
  return { kind: "stored", name };
}

/** Stores the gateway whose invite was redeemed. */
export const joinedPeer = defineCommand({ name: "peer.joined", run: putPeer });
