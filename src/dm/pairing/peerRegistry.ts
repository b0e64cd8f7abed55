import { reasonError } from "../../rpc/rpcError.js";
import { endRevokedDeliveries } from "../../store/deliveries/endRevokedDeliveries.js";
import { holdDestination, releaseDestination, resetDestination } from "../../store/deliveries/holdDestination.js";
import { laneHeads } from "../../store/deliveries/outboundDeliveries.js";
import { revokePeer, updatePeer } from "../../store/peers/changePeer.js";
import { createInvite } from "../../store/peers/invites.js";
import type { Store } from "../../store/store.js";
import type { Random } from "../../base/random.js";
import { parsePin } from "../../rpc/tls/pin.js";
import type { AfterCommit } from "../afterCommit.js";
import type { BookedPeer } from "../peers/peerBook.js";
import { formatInvite, hashOfInviteSecret, INVITE_SECRET_BYTES } from "../../rpc/inviteCode.js";
import { joinPeer, type JoinPeerOptions, type Joining } from "./joinPeer.js";
import { configuredPeer, notPaired } from "./refusals.js";

/** An invite that an operator asks for. */
export interface InviteRequest {
  /** Who asks. */
  readonly principal: string;
  readonly requestId: string;
  /** Name of the peer to come; empty takes the one that it gives itself. */
  readonly name: string;
  /** `host:port` to dial. */
  readonly address: string;
  /** Agents that it may reach; undefined = all that are not private. */
  readonly grants: readonly string[] | undefined;
  readonly connector: boolean;
}

/** What operators do with peers and destinations. */
export interface PeerRegistry {
  /** Makes an invite. @throws RpcError PEER_EXISTS, ALREADY_EXISTS for a request that made one. */
  invite(request: InviteRequest): Promise<{ readonly code: string; readonly expiresAt: number }>;
  /** See {@link joinPeer}. */
  join(joining: Joining): Promise<BookedPeer>;
  /**
   * Changes a peer's address or the agents that it may reach.
   * @throws RpcError UNKNOWN_PEER, FAILED_PRECONDITION for a configured one.
   */
  update(change: {
    readonly name: string;
    readonly address?: string;
    readonly grants?: { readonly agents: readonly string[] | undefined };
  }): Promise<BookedPeer>;
  /**
   * Ends a pairing: the key is unknown at once, `cut` ends what it has open, and messages to it end.
   * @param cut ends connections of a key and says how many there were
   * @returns how many connections were cut, the one from here included
   * @throws RpcError UNKNOWN_PEER, FAILED_PRECONDITION for a configured one.
   */
  revoke(name: string, cut: (pin: string) => number): Promise<number>;
  /** Keeps messages for a destination waiting. @throws RpcError UNKNOWN_PEER. */
  hold(name: string, by: string, reason: string): Promise<void>;
  /** Ends a hold and lets the destination be tried at once. @param by the principal that does. @throws RpcError UNKNOWN_PEER. */
  release(name: string, by: string): Promise<void>;
  /** Forgets a destination's failures and lets it be tried at once, unless it is held. @throws RpcError UNKNOWN_PEER. */
  reset(name: string, by: string): Promise<void>;
  /** Ends the messages to peers that were revoked, where an earlier start was killed before it had. */
  settleRevoked(): Promise<void>;
}

/** What {@link createPeerRegistry} needs. */
export interface PeerRegistryOptions extends JoinPeerOptions {
  readonly store: Pick<Store, "writer" | "reader">;
  readonly random: Random;
  readonly afterCommit: AfterCommit;
  /** Whether a way to the peer is open. */
  readonly isLinked: (name: string) => boolean;
  /** Lets a destination's hold or breaker be looked at again. */
  readonly onDestinationChanged: (name: string) => void;
}

/** Makes the registry. */
export function createPeerRegistry(options: PeerRegistryOptions): PeerRegistry {
  const { store, peers, clock, random, budgets, ownPin, afterCommit } = options;
  const changeable = (name: string): BookedPeer => {
    const peer = peers.named(name);
    if (peer === undefined) throw reasonError("UNKNOWN_PEER", undefined, { metadata: { peer: name } });
    if (peer.configured) throw configuredPeer(name);
    return peer;
  };
  const checkDestination = (name: string): void => {
    if (peers.get(name) !== undefined || laneHeads(store.reader, name, 1).length > 0) return;
    throw reasonError("UNKNOWN_PEER", undefined, { metadata: { peer: name } });
  };
  const endDeliveries = async (gateway: string): Promise<void> => {
    for (let more = true; more;) {
      const result = await store.writer.execute(endRevokedDeliveries, { gateway, now: clock.now() });
      afterCommit(result.effects);
      more = result.more;
    }
  };
  return {
    async invite({ address, ...request }) {
      const pin = parsePin(ownPin);
      if (pin === undefined) throw new Error("the gateway's own pin is none");
      if (peers.named(request.name)?.configured === true) throw notPaired({ kind: "nameTaken", name: request.name });
      const secret = random.bytes(INVITE_SECRET_BYTES);
      const now = clock.now();
      const expiresAt = now + budgets.inviteMs;
      const draft = { ...request, secretHash: hashOfInviteSecret(secret), now, expiresAt };
      if (!(await store.writer.execute(createInvite, draft))) {
        throw reasonError("ALREADY_EXISTS", undefined, {
          message: "The request has made an invite before; its code is shown once.",
          hint: "Make another one, under another request id.",
        });
      }
      return { code: formatInvite({ address, pin, secret }), expiresAt };
    },
    join: (joining) => joinPeer(options, joining),
    async update(change) {
      changeable(change.name);
      await store.writer.execute(updatePeer, { ...change, now: clock.now() });
      peers.refresh();
      if (change.address !== undefined) await options.onPeerChanged(change.name);
      return changeable(change.name);
    },
    async revoke(name, cut) {
      if (peers.named(name)?.configured === true) throw configuredPeer(name);
      const outcome = await store.writer.execute(revokePeer, { name, now: clock.now() });
      if (outcome.kind === "unknown") throw reasonError("UNKNOWN_PEER", undefined, { metadata: { peer: name } });
      peers.refresh();
      if (outcome.kind === "repeated") return 0;
      const count = cut(outcome.pin) + (options.isLinked(name) ? 1 : 0);
      await options.onPeerChanged(name);
      await endDeliveries(name);
      return count;
    },
    async hold(name, by, reason) {
      checkDestination(name);
      await store.writer.execute(holdDestination, { gateway: name, by, reason, now: clock.now() });
      options.onDestinationChanged(name);
    },
    async release(name, by) {
      checkDestination(name);
      await store.writer.execute(releaseDestination, { gateway: name, by, now: clock.now() });
      options.onDestinationChanged(name);
    },
    async reset(name, by) {
      checkDestination(name);
      await store.writer.execute(resetDestination, { gateway: name, by, now: clock.now() });
      options.onDestinationChanged(name);
    },
    async settleRevoked() {
      for (const name of peers.revokedNames()) await endDeliveries(name);
    },
  };
}
