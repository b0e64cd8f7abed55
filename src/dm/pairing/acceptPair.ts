import type { Budgets } from "../../base/budgets.js";
import type { Clock } from "../../base/clock.js";
import type { FailureTally } from "../../base/failureTally.js";
import { isName } from "../../base/ids.js";
import type { Logger } from "../../base/logger.js";
import type { PairRequest, PairResponse } from "../../gen/talaria/dm/v1/peer_service.js";
import type { CallContext } from "../../rpc/harness/callContext.js";
import { hashOfInviteSecret, INVITE_SECRET_BYTES } from "../../rpc/inviteCode.js";
import { invalidField, reasonError } from "../../rpc/rpcError.js";
import { sourceOf } from "../../rpc/sourceOf.js";
import { redeemInvite } from "../../store/peers/invites.js";
import type { Store } from "../../store/store.js";
import { checkKey } from "../admission/checkShape.js";
import { gatewayInfo, whyUnfit, type GatewayIdentity } from "../gatewayInfo.js";
import type { PeerBook } from "../peers/peerBook.js";
import { dialableAddress, hostOfRemote, splitAddress } from "./peerAddress.js";
import { notPaired } from "./refusals.js";

/** What {@link acceptPair} needs. */
export interface AcceptPairOptions {
  readonly identity: GatewayIdentity;
  readonly store: Pick<Store, "writer">;
  readonly peers: PeerBook;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly log: Logger;
  /** Opens a way to a peer that was paired or has changed. */
  readonly onPeerChanged: (name: string) => Promise<void>;
}

/** {@link AcceptPairOptions}, with who has tried wrong secrets. */
export interface PairingDoor extends AcceptPairOptions {
  readonly attempts: FailureTally;
}

const TOO_MANY = "Too many wrong invites came from this address.";

/**
 * Pins the caller's key against an invite. The key is the one that the handshake of the call's connection proved. A source that has
 * given too many wrong secrets is not looked at until its wait is over.
 * @throws RpcError OVERLOADED for that, INVITE_INVALID, INVITE_EXPIRED, PEER_EXISTS, INVALID_FIELD, and what makes the caller unfit.
 */
export async function acceptPair(
  { identity, store, peers, budgets, clock, log, onPeerChanged, attempts }: PairingDoor,
  { requestId, secret, caller, address, connector }: PairRequest,
  { principal, connection }: Pick<CallContext, "principal" | "connection">,
): Promise<PairResponse> {
  const pin = "pin" in principal ? principal.pin : undefined;
  if (pin === undefined) throw reasonError("UNAUTHENTICATED");
  checkKey(requestId);
  if (secret.length !== INVITE_SECRET_BYTES) throw invalidField("secret", "must be 16 bytes");
  if (caller === undefined || !isName(caller.name)) throw invalidField("caller.name", "must be a gateway's name");
  if (address !== "" && splitAddress(address) === undefined) throw invalidField("address", "must be host:port");
  const unfit = connector ? undefined : whyUnfit(caller, budgets);
  if (unfit !== undefined) throw unfit;
  const source = sourceOf(connection);
  const retryAfterMs = attempts.waitOf(source);
  if (retryAfterMs > 0) throw reasonError("OVERLOADED", undefined, { message: TOO_MANY, retryAfterMs });
  const known = peers.byPin(pin);
  const configured = peers.everyone().filter((peer) => peer.configured);
  const outcome = await store.writer.execute(redeemInvite, {
    secretHash: hashOfInviteSecret(secret),
    pin,
    callerName: caller.name,
    address: dialableAddress(address, hostOfRemote(connection.remote)),
    connector,
    configuredAs: known?.configured === true ? known.name : undefined,
    reserved: configured.map(({ name }) => name),
    now: clock.now(),
  });
  switch (outcome.kind) {
    case "invalid":
      attempts.failed(source);
      log.warn({ pin, remote: connection.remote }, "an invite was tried that is not valid");
      throw reasonError("INVITE_INVALID");
    case "expired":
      throw reasonError("INVITE_EXPIRED");
    case "stored":
      attempts.succeeded(source);
      log.info({ peer: outcome.name, pin, connector }, "paired");
      peers.refresh();
      await onPeerChanged(outcome.name);
      return { info: gatewayInfo(identity, budgets, clock.now()), callerName: outcome.name };
    default:
      throw notPaired(outcome);
  }
}
