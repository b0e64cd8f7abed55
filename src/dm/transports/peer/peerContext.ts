import type { Client } from "@grpc/grpc-js";

import type { Budgets } from "../../../base/budgets.js";
import type { Clock } from "../../../base/clock.js";
import type { Logger } from "../../../base/logger.js";
import type { Random } from "../../../base/random.js";
import type { RpcError } from "../../../rpc/rpcError.js";
import type { Tracer } from "../../../rpc/tracing/tracer.js";
import type { Store } from "../../../store/store.js";
import type { AfterCommit } from "../../afterCommit.js";
import type { GatewayIdentity } from "../../gatewayInfo.js";
import type { PeerClocks } from "../../peers/peerClocks.js";
import type { PeerRosters } from "../../peers/peerRosters.js";
import type { PeerDirectory, PeerEntry } from "../../ports/directory.js";

/** A way to call a peer. */
export interface PeerConnection {
  readonly client: Client;
  /** Closes the channel; calls have been cancelled before. */
  close(): void;
}

/**
 * Makes a client for a peer that presents our key and expects its pinned one. Connects at the first call. `onRefused` is told why the
 * other side's certificate was refused (another key or none: PEER_PIN_MISMATCH), before the calls fail: nothing was sent to it.
 */
export type ConnectPeer = (peer: PeerEntry, onRefused?: (why: RpcError) => void) => PeerConnection;

/** What moving messages to peers needs. */
export interface PeerContext {
  readonly identity: GatewayIdentity;
  readonly store: Pick<Store, "writer" | "reader">;
  readonly peers: PeerDirectory;
  readonly rosters: PeerRosters;
  readonly clocks: PeerClocks;
  readonly connectPeer: ConnectPeer;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly afterCommit: AfterCommit;
  readonly tracer: Tracer;
}
