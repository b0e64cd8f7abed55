import type { Client } from "@grpc/grpc-js";

import {
  PeerServiceService,
  type DeliverDMRequest,
  type DeliverDMResponse,
  type ListRosterResponse,
  type Receipt,
  type WatchReceiptsResponse,
} from "../gen/talaria/dm/v1/peer_service.js";
import type { GatewayInfo } from "../gen/talaria/dm/v1/roster.js";
import { createClient } from "../rpc/clients/connectClient.js";
import { readStream } from "../rpc/clients/readStream.js";
import { unaryCall } from "../rpc/clients/unaryCall.js";
import { RpcError } from "../rpc/rpcError.js";
import type { LeafSource } from "../rpc/tls/leafCertificate.js";
import { pinnedCredentials } from "../rpc/tls/pinnedCredentials.js";

/** The gateway of this machine, called under the home's own key. Every call throws RpcError. */
export interface LocalGateway {
  /** Its agents, and what it says of itself. */
  roster(signal: AbortSignal): Promise<ListRosterResponse>;
  /** Delivers a message; resolves when it is on disk there. */
  deliver(item: DeliverDMRequest, signal: AbortSignal): Promise<DeliverDMResponse>;
  /** What became of a message; undefined where it was never accepted. */
  receipt(key: string, signal: AbortSignal): Promise<Receipt | undefined>;
  /** Withdraws a message. @returns its receipt; undefined where it was never accepted */
  cancel(key: string, signal: AbortSignal): Promise<Receipt | undefined>;
  /** Watches receipts after a place. */
  watch(caller: GatewayInfo, after: number, signal: AbortSignal): AsyncIterable<WatchReceiptsResponse>;
  /** Closes the channel. */
  close(): void;
}

/** How long one call may take, milliseconds. */
const CALL_MS = 30_000;

/** Makes the client; it connects at the first call, and again whenever the gateway is back. */
export function createLocalGateway(address: string, leaves: LeafSource, now: () => number): LocalGateway {
  const credentials = pinnedCredentials({ leaves, serverPin: leaves.identity.pin, now });
  const client: Client = createClient({ address, purpose: "tcpStream", ownConnection: true, credentials });
  const timeoutMs = CALL_MS;
  const known = async (call: Promise<{ readonly receipt: Receipt | undefined }>): Promise<Receipt | undefined> => {
    try {
      return (await call).receipt;
    } catch (caught) {
      if (RpcError.is(caught, "UNKNOWN_DELIVERY")) return undefined;
      throw caught;
    }
  };
  return {
    roster: (signal) =>
      unaryCall(client, PeerServiceService.listRoster, { caller: undefined, fingerprint: "" }, { signal, timeoutMs }),
    deliver: (item, signal) => unaryCall(client, PeerServiceService.deliverDm, item, { signal, timeoutMs }),
    receipt: (key, signal) => known(unaryCall(client, PeerServiceService.getReceipt, { key }, { signal, timeoutMs })),
    cancel: (key, signal) =>
      known(unaryCall(client, PeerServiceService.cancelDm, { requestId: key }, { signal, timeoutMs })),
    watch: (caller, after, signal) => {
      const cursor = after === 0 ? undefined : { epoch: 0n, sequence: BigInt(after) };
      return readStream(client, PeerServiceService.watchReceipts, { caller, cursor }, { signal });
    },
    close: () => {
      client.close();
    },
  };
}
