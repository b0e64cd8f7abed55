import type { Budgets } from "../../base/budgets.js";
import type { Clock } from "../../base/clock.js";
import { isName } from "../../base/ids.js";
import { PeerServiceService, type PairResponse } from "../../gen/talaria/dm/v1/peer_service.js";
import { unaryCall } from "../../rpc/clients/unaryCall.js";
import { invalidField, reasonError, RpcError } from "../../rpc/rpcError.js";
import { joinedPeer } from "../../store/peers/putPeer.js";
import type { Store } from "../../store/store.js";
import { gatewayInfo, whyUnfit, type GatewayIdentity } from "../gatewayInfo.js";
import type { BookedPeer, PeerBook } from "../peers/peerBook.js";
import type { ConnectPeer } from "../transports/peer/peerContext.js";
import { parseInvite, type Invite } from "../../rpc/inviteCode.js";
import { configuredPeer, notPaired } from "./refusals.js";

/** How long the inviting gateway may take to answer, milliseconds. */
const PAIR_MS = 15_000;

/** What {@link joinPeer} needs. */
export interface JoinPeerOptions {
  readonly identity: GatewayIdentity;
  readonly store: Pick<Store, "writer">;
  readonly peers: PeerBook;
  readonly connectPeer: ConnectPeer;
  /** Pin of this gateway's own key. */
  readonly ownPin: string;
  readonly budgets: Budgets;
  readonly clock: Clock;
  /** Opens a way to a peer that was paired or has changed. */
  readonly onPeerChanged: (name: string) => Promise<void>;
}

/** An invite to redeem. */
export interface Joining {
  readonly requestId: string;
  readonly code: string;
  /** Name that the other side will have here; empty takes the one that it gives itself. */
  readonly name: string;
  /** Address at which this gateway can be dialled; empty where it cannot. */
  readonly ownAddress: string;
}

/**
 * Redeems another gateway's invite. Its key is compared with the pin of the code before anything is sent, and pinned once it has
 * answered. A call that ends between the two sides may be repeated.
 * @throws RpcError INVITE_INVALID, INVITE_EXPIRED, PEER_EXISTS, PEER_PIN_MISMATCH, PEER_UNREACHABLE, and what makes it unfit.
 */
export async function joinPeer(options: JoinPeerOptions, joining: Joining): Promise<BookedPeer> {
  const { store, peers, budgets, clock, ownPin, onPeerChanged } = options;
  const invite = readInvite(joining.code);
  const { address, pin } = invite;
  if (joining.name !== "" && !isName(joining.name)) throw invalidField("name", "must match [a-z0-9][a-z0-9_-]{0,63}");
  if (pin === ownPin) throw invitation("The invite is this gateway's own.", "Redeem it on the other gateway.");
  const known = peers.byPin(pin);
  if (known?.configured === true) throw configuredPeer(known.name);
  checkName(peers, joining.name, pin);

  const { info } = await pair(options, joining, invite);
  if (info === undefined)
    throw reasonError("MALFORMED_MESSAGE", undefined, { message: "The gateway did not say who it is." });
  const unfit = whyUnfit(info, budgets);
  if (unfit !== undefined) throw unfit;
  const name = joining.name === "" ? (known?.name ?? info.name) : joining.name;
  if (!isName(name)) throw reasonError("MALFORMED_MESSAGE", undefined, { message: "The gateway has no usable name." });
  checkName(peers, name, pin);
  const outcome = await store.writer.execute(joinedPeer, {
    pin,
    name,
    chosenHere: joining.name !== "",
    address,
    connector: false,
    grants: null,
    now: clock.now(),
  });
  if (outcome.kind !== "stored") throw notPaired(outcome);
  peers.refresh();
  await onPeerChanged(outcome.name);
  const peer = peers.named(outcome.name);
  if (peer === undefined) throw reasonError("UNKNOWN_PEER");
  return peer;
}

function readInvite(code: string): Invite {
  const parsed = parseInvite(code);
  switch (parsed.kind) {
    case "invite":
      return parsed.invite;
    case "none":
      throw invitation("The text is not an invite's code.", "Copy the whole code, from tal1. to its end.");
    case "version":
      throw invitation("The code is of a later version.", "Update this gateway.");
    case "mistyped":
      throw invitation("The code is damaged: a character was lost or changed.", "Copy the whole code again.");
  }
}

function invitation(message: string, hint: string): RpcError {
  return reasonError("INVITE_INVALID", undefined, { message, hint });
}

/** Refuses before the other side is asked what would be refused after. */
function checkName(peers: PeerBook, name: string, pin: string): void {
  const bearer = name === "" ? undefined : peers.named(name);
  if (bearer !== undefined && bearer.pin !== pin) throw notPaired({ kind: "nameTaken", name });
  const known = peers.byPin(pin);
  if (known !== undefined && name !== "" && known.name !== name)
    throw notPaired({ kind: "keyNamed", name: known.name });
}

async function pair(
  { identity, connectPeer, budgets }: JoinPeerOptions,
  { requestId, ownAddress }: Joining,
  { address, pin, secret }: Invite,
): Promise<PairResponse> {
  const refused: { why?: RpcError } = {};
  const connection = connectPeer({ name: address, address, pin }, (why) => {
    refused.why = why;
  });
  try {
    const caller = gatewayInfo(identity, budgets);
    const request = { requestId, secret: Buffer.from(secret), caller, address: ownAddress, connector: false };
    return await unaryCall(connection.client, PeerServiceService.pair, request, { timeoutMs: PAIR_MS });
  } catch (caught) {
    const error = RpcError.from(caught);
    if (refused.why !== undefined) throw refused.why;
    if (error.reason !== "UNAVAILABLE" && error.reason !== "DEADLINE_EXCEEDED") throw error;
    throw reasonError("PEER_UNREACHABLE", undefined, {
      message: `The gateway of the invite could not be reached at ${address}.`,
      hint: "Check that it runs and that the address can be dialled from here; the same code may be tried again.",
      cause: caught,
    });
  } finally {
    connection.close();
  }
}
