import { pause } from "../../../base/pause.js";
import { PeerServiceService } from "../../../gen/talaria/dm/v1/peer_service.js";
import { unaryCall } from "../../../rpc/clients/unaryCall.js";
import { RpcError } from "../../../rpc/rpcError.js";
import { gatewayInfo } from "../../gatewayInfo.js";
import type { PeerConnection, PeerContext } from "./peerContext.js";

/** Time between two looks at a connected peer's roster, milliseconds. Source: dm reference 3.1. */
export const ROSTER_EVERY_MS = 60_000;
/** How long a look may take, milliseconds. */
const LOOK_MS = 10_000;

/**
 * Reads a peer's roster, and with it the peer's clock, at once and every {@link ROSTER_EVERY_MS} until the signal aborts. A peer that serves none, answers too much
 * or nothing keeps what it said before; nothing that it says here touches the way to it. Never throws.
 */
export async function followRoster(
  context: PeerContext,
  gateway: string,
  { client }: PeerConnection,
  signal: AbortSignal,
): Promise<void> {
  const { rosters, clocks, identity, budgets, clock, log } = context;
  const over = (): boolean => signal.aborted;
  while (!over()) {
    try {
      const known = rosters.get(gateway)?.fingerprint ?? "";
      const askedAt = clock.monotonic();
      const { info, entries, fingerprint } = await unaryCall(
        client,
        PeerServiceService.listRoster,
        { caller: gatewayInfo(identity, budgets), fingerprint: known },
        { signal, timeoutMs: LOOK_MS, clock },
      );
      clocks.heard(gateway, info?.saidAt, askedAt);
      if (known !== "" && fingerprint === known) rosters.confirm(gateway);
      else rosters.store(gateway, entries, fingerprint);
    } catch (caught) {
      const { reason } = RpcError.from(caught);
      if (over() || reason === "UNIMPLEMENTED") return;
      log.info({ gateway, reason }, "the roster of a peer cannot be read");
    }
    await pause(clock, ROSTER_EVERY_MS, signal);
  }
}
