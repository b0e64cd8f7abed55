import type { Client } from "@grpc/grpc-js";

import type { Budgets } from "../../../base/budgets.js";
import type { Clock } from "../../../base/clock.js";
import type { Logger } from "../../../base/logger.js";
import type { Random } from "../../../base/random.js";
import type { Tracer } from "../../../rpc/tracing/tracer.js";
import type { Store } from "../../../store/store.js";
import type { AfterCommit } from "../../afterCommit.js";
import type { GatewayIdentity } from "../../gatewayInfo.js";
import type { PeerRosters } from "../../peers/peerRosters.js";
import type { PeerDirectory, PeerEntry } from "../../ports/directory.js";

/** A way to call a peer. */
export interface PeerConnection {
  readonly client: Client;
  /** Closes the channel; calls have been cancelled before. */
  close(): void;
}

/**
 * Makes a client for a peer that presents our key and expects its pinned one. Connects at the first call. `onOtherKey` runs where the
 * other side proved another key or none, before the calls fail: nothing was sent to it.
 */
export type ConnectPeer = (peer: PeerEntry, onOtherKey?: () => void) => PeerConnection;

/** What moving messages to peers needs. */
export interface PeerContext {
  readonly identity: GatewayIdentity;
  readonly store: Pick<Store, "writer" | "reader">;
  readonly peers: PeerDirectory;
  readonly rosters: PeerRosters;
  readonly connectPeer: ConnectPeer;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly afterCommit: AfterCommit;
  readonly tracer: Tracer;
}
