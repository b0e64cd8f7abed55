import type { Clock } from "../base/clock.js";
import type { Random } from "../base/random.js";
import { VERSION } from "../base/version.js";
import { GatewayInfo } from "../gen/talaria/dm/v1/roster.js";
import { PeerServiceService } from "../gen/talaria/dm/v1/peer_service.js";
import { createClient } from "../rpc/clients/connectClient.js";
import { unaryCall } from "../rpc/clients/unaryCall.js";
import { parseInvite } from "../rpc/inviteCode.js";
import { reasonError, RpcError } from "../rpc/rpcError.js";
import type { LeafSource } from "../rpc/tls/leafCertificate.js";
import { pinnedCredentials } from "../rpc/tls/pinnedCredentials.js";

/** How long the gateway that relays may take to answer, milliseconds. */
const PAIR_MS = 15_000;

/** What pairs a connector. */
export interface ConnectorPairing {
  /** The invite's code, as `talaria peers invite --connector` printed it. */
  readonly code: string;
  /** Name that the connector proposes for itself; the invite may give it another one. */
  readonly name: string;
  /** Leaves under the home's identity key. */
  readonly leaves: LeafSource;
  readonly clock: Clock;
  readonly random: Random;
}

/** A connector that is paired. */
export interface PairedConnector {
  /** What the gateway that relays calls it: what stands behind the `@` of its agents' addresses. */
  readonly name: string;
  /** `host:port` of the gateway that relays. */
  readonly hub: string;
  /** Pin of its key. */
  readonly pin: string;
}

/**
 * Redeems a connector's invite with the home's key. The other side's key is compared with the code's pin before anything is sent; the
 * call may be repeated, while the invite lasts, where its answer was lost.
 * @throws RpcError INVITE_INVALID, INVITE_EXPIRED, PEER_EXISTS, PEER_PIN_MISMATCH, PEER_UNREACHABLE, OVERLOADED.
 */
export async function pairConnector({ code, name, leaves, clock, random }: ConnectorPairing): Promise<PairedConnector> {
  const parsed = parseInvite(code);
  if (parsed.kind !== "invite") throw reasonError("INVITE_INVALID", undefined, { message: WRONG[parsed.kind] });
  const { address, pin, secret } = parsed.invite;
  const proved = { otherKey: false };
  const credentials = pinnedCredentials({
    leaves,
    serverPin: pin,
    now: () => clock.now(),
    onVerdict: ({ kind }) => {
      proved.otherKey ||= kind !== "known";
    },
  });
  const client = createClient({ address, purpose: "tcp", credentials, ownConnection: true });
  const request = {
    requestId: random.bytes(16).toString("hex"),
    secret: Buffer.from(secret),
    caller: GatewayInfo.fromPartial({ name, version: VERSION, protocolMin: 1, protocolMax: 1 }),
    address: "",
    connector: true,
  };
  try {
    const { callerName } = await unaryCall(client, PeerServiceService.pair, request, { timeoutMs: PAIR_MS, clock });
    return { name: callerName, hub: address, pin };
  } catch (caught) {
    if (proved.otherKey) throw new RpcError("PEER_PIN_MISMATCH", { cause: caught });
    const error = RpcError.from(caught);
    const away = error.reason === "UNAVAILABLE" || error.reason === "DEADLINE_EXCEEDED";
    throw away ? new RpcError("PEER_UNREACHABLE", { cause: error }) : error;
  } finally {
    client.close();
  }
}

const WRONG = {
  none: "The text is no invite.",
  version: "The invite is of another version of the program.",
  mistyped: "The invite has a character too few, too many or changed.",
} as const;
