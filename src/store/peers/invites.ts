import { defineCommand } from "../command.js";
import type { Tx } from "../sql.js";
import { putPeer, type PutPeerOutcome } from "./putPeer.js";
import { grantsColumn, grantsFromColumn, readPeerByPin } from "./storedPeer.js";

/** Attempts with its own secret that did not lead to a pairing, after which an open invite is withdrawn. */
export const WRONG_ATTEMPTS_MAX = 5;

/** How long a spent invite is remembered, milliseconds: its holder is told that it has expired, not that it never was. */
const REMEMBERED_MS = 24 * 60 * 60 * 1_000;

/** An invite that is about to be stored. */
export interface InviteDraft {
  /** SHA-256 of the secret. */
  readonly secretHash: Uint8Array;
  /** Who makes it. */
  readonly principal: string;
  readonly requestId: string;
  /** Name of the peer to come; empty takes the one that it gives itself. */
  readonly name: string;
  readonly grants: readonly string[] | undefined;
  readonly connector: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Stores an invite. @returns false where the request made one before: its code cannot be told again. */
export const createInvite = defineCommand({
  name: "peer.create_invite",
  run: (tx: Tx, draft: InviteDraft): boolean => {
    const { secretHash, principal, requestId, name, grants, connector, now, expiresAt } = draft;
    tx.run("DELETE FROM invites WHERE expires_at < ?", now - REMEMBERED_MS);
    return (
      tx.run(
        `INSERT INTO invites (secret_hash, principal, request_id, name, grants, connector, created_at, expires_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (principal, request_id) DO NOTHING`,
        secretHash,
        principal,
        requestId,
        name,
        grantsColumn(grants),
        connector ? 1 : 0,
        now,
        expiresAt,
      ).changes > 0
    );
  },
});

/** An attempt to redeem an invite. */
export interface Redemption {
  /** SHA-256 of the secret that came. */
  readonly secretHash: Uint8Array;
  /** Pin of the caller's key, as the handshake proved it. */
  readonly pin: string;
  /** What the caller calls itself. */
  readonly callerName: string;
  /** Empty where it cannot be dialled. */
  readonly address: string;
  readonly connector: boolean;
  /** Name of the caller in the configuration; undefined where it is not configured. Then nothing but the invite's use is stored. */
  readonly configuredAs: string | undefined;
  /** Names that the configuration gives to other keys. */
  readonly reserved: readonly string[];
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What came of it. */
export type RedemptionOutcome =
  | PutPeerOutcome
  /** No invite has this secret. */
  | { readonly kind: "invalid" }
  /** It is too old, was used by another key, or was withdrawn. */
  | { readonly kind: "expired" };

/**
 * Redeems an invite for a key. A wrong secret means no invite and touches none; who has an invite's own secret may fail with it a few
 * times, as by a name that is taken. The key that used an invite may repeat the call: its answer may have been lost.
 */
export const redeemInvite = defineCommand({
  name: "peer.redeem_invite",
  run: (tx: Tx, attempt: Redemption): RedemptionOutcome => {
    const { secretHash, pin, callerName, address, connector, configuredAs, reserved, now } = attempt;
    const invite = tx.get<InviteRow>("SELECT * FROM invites WHERE secret_hash = ?", secretHash);
    if (invite === undefined) return { kind: "invalid" };
    if ((invite.connector === 1) !== connector) {
      countFailure(tx, secretHash);
      return { kind: "invalid" };
    }
    if (invite.expires_at <= now) return { kind: "expired" };
    if (invite.used_by !== null) {
      const name = invite.used_by === pin ? (configuredAs ?? readPeerByPin(tx, pin)?.name) : undefined;
      return name === undefined ? { kind: "expired" } : { kind: "stored", name };
    }
    if (invite.wrong_attempts >= WRONG_ATTEMPTS_MAX) return { kind: "expired" };
    const outcome: PutPeerOutcome =
      configuredAs === undefined
        ? put(tx, attempt, invite, { callerName, address, reserved })
        : { kind: "stored", name: configuredAs };
    if (outcome.kind === "stored") tx.run("UPDATE invites SET used_by = ? WHERE secret_hash = ?", pin, secretHash);
    else countFailure(tx, secretHash);
    return outcome;
  },
});

function countFailure(tx: Tx, secretHash: Uint8Array): void {
  tx.run("UPDATE invites SET wrong_attempts = wrong_attempts + 1 WHERE secret_hash = ?", secretHash);
}

interface InviteRow {
  name: string;
  grants: string | null;
  connector: number;
  wrong_attempts: number;
  expires_at: number;
  used_by: string | null;
}

function put(
  tx: Tx,
  { pin, now }: Redemption,
  invite: InviteRow,
  { callerName, address, reserved }: Pick<Redemption, "callerName" | "address" | "reserved">,
): PutPeerOutcome {
  const name = invite.name === "" ? callerName : invite.name;
  if (reserved.includes(name)) return { kind: "nameTaken", name };
  return putPeer(tx, {
    pin,
    name,
    chosenHere: invite.name !== "",
    address,
    connector: invite.connector === 1,
    grants: grantsFromColumn(invite.grants),
    now,
  });
}
