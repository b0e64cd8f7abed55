import { PeerServiceService } from "../../../gen/talaria/dm/v1/peer_service.js";
import { unaryCall } from "../../../rpc/clients/unaryCall.js";
import { RpcError } from "../../../rpc/rpcError.js";
import { applyReceipts } from "../../../store/deliveries/applyReceipts.js";
import { cancelDelivery } from "../../../store/deliveries/cancelDelivery.js";
import type { StoredDelivery } from "../../../store/deliveries/storedDelivery.js";
import { fromReceipt } from "../../wire/receiptWire.js";
import type { FarCancellation, Transport } from "../transport.js";
import type { PeerContext } from "./peerContext.js";
import { PeerLink } from "./peerLink.js";
import type { PeerWay } from "./peerWay.js";

/** The transport of peers, with what pairing and operators ask of it. */
export interface PeerTransport extends Transport {
  /** To be called after a peer was paired, changed or revoked: the way to it ends, and another one opens where it is a peer. */
  reopen(gateway: string): Promise<void>;
  /** To be called after a destination's hold or breaker was changed from outside. */
  reconsider(gateway: string): void;
  /** The way to a peer; undefined where there is none. */
  wayTo(gateway: string): PeerWay | undefined;
}

/** Moves messages to peers: one link for each that can be dialled. */
export function createPeerTransport(context: PeerContext): PeerTransport {
  const links = new Map<string, PeerLink>();
  let state: "new" | "running" | "ending" = "new";

  const open = async (gateway: string): Promise<void> => {
    const address = context.peers.get(gateway)?.address ?? "";
    if (state !== "running" || links.has(gateway) || address === "") return;
    const link = new PeerLink(context, gateway);
    links.set(gateway, link);
    await link.start();
  };
  const end = async (): Promise<void> => {
    state = "ending";
    await Promise.all([...links.values()].map((link) => link.close()));
  };

  return {
    kind: "peer",
    serves: (gateway) => context.peers.get(gateway) !== undefined,
    async start() {
      state = "running";
      await Promise.all(context.peers.list().map(({ name }) => open(name)));
    },
    kick(gateway) {
      const link = links.get(gateway);
      if (link !== undefined) link.kick();
      else {
        open(gateway).catch((caught: unknown) => {
          context.log.error({ gateway, err: caught }, "the way to a peer could not be opened");
        });
      }
    },
    withhold({ deliveryId, recipientGateway }) {
      const link = links.get(recipientGateway);
      return link === undefined ? () => undefined : link.withhold(deliveryId);
    },
    inFlight: () => [...links.values()].flatMap((link) => link.inFlight),
    cancel: (delivery, withheld) => cancelAtPeer(context, links.get(delivery.recipientGateway), delivery, withheld),
    async reopen(gateway) {
      const link = links.get(gateway);
      links.delete(gateway);
      await link?.close();
      await open(gateway);
    },
    reconsider: (gateway) => links.get(gateway)?.reconsider(),
    wayTo: (gateway) => links.get(gateway)?.way,
    drain: end,
    close: end,
  };
}

async function cancelAtPeer(
  context: PeerContext,
  link: PeerLink | undefined,
  delivery: StoredDelivery,
  withheld: boolean,
): Promise<FarCancellation> {
  const connection = link?.connection;
  if (connection === undefined) return "pending";
  const { store, clock, afterCommit } = context;
  const { deliveryId, recipientGateway: gateway } = delivery;
  try {
    const { receipt } = await unaryCall(connection.client, PeerServiceService.cancelDm, { requestId: deliveryId });
    const now = clock.now();
    const stored = receipt === undefined ? undefined : fromReceipt(receipt, gateway, now);
    if (stored === undefined) return "pending";
    afterCommit(await store.writer.execute(applyReceipts, { gateway, receipts: [stored], now }));
    return stored.state === "cancelled" ? "cancelled" : "started";
  } catch (caught) {
    const { reason } = RpcError.from(caught);
    if (reason === "DELIVERY_NOT_CANCELLABLE" || reason === "DELIVERY_ENDED") return "started";
    if (reason !== "UNKNOWN_DELIVERY" || !withheld) return "pending";
    const request = { deliveryId, inFlight: false, unknownThere: true, now: clock.now() };
    const result = await store.writer.execute(cancelDelivery, request);
    if (result.kind === "cancelled") afterCommit(result.effects);
    return result.kind === "cancelled" ? "cancelled" : "pending";
  }
}
