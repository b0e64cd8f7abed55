import type { Budgets } from "../base/budgets.js";
import type { Clock } from "../base/clock.js";
import type { GatewayConfig } from "../base/config/gatewayConfig.js";
import type { HomePaths } from "../base/home.js";
import type { Logger } from "../base/logger.js";
import type { ProcessTable } from "../base/processTable.js";
import type { Random } from "../base/random.js";
import type { SecretRegistry } from "../base/secretRegistry.js";
import type { PeerBook } from "../dm/peers/peerBook.js";
import type { SpanCounts } from "../rpc/tracing/spanCounts.js";
import type { Tracer } from "../rpc/tracing/tracer.js";
import type { LeafSource } from "../rpc/tls/leafCertificate.js";
import type { Store } from "../store/store.js";
import type { LoopDelay } from "./admin/loopDelay.js";
import type { OperatorEvents } from "./admin/operatorEvents.js";
import type { AgentDirectory } from "./agents/agentDirectory.js";
import type { StorageGuard } from "./storage/storageGuard.js";
import type { SpendingGuard } from "./usage/spendingGuard.js";
import type { DmRoom, OwnerRoom } from "./ports.js";

/** What the rooms and services of one gateway are made from. */
export interface GatewayContext {
  readonly paths: HomePaths;
  readonly config: GatewayConfig;
  readonly budgets: Budgets;
  readonly agents: AgentDirectory;
  readonly store: Store;
  /** Says when the disk takes no more work. */
  readonly storage: Pick<StorageGuard, "problem">;
  /** Pauses agents that have used up their budget of the day. */
  readonly spending: SpendingGuard;
  /** Leaves under the home's identity key. */
  readonly leaves: LeafSource;
  readonly peers: PeerBook;
  readonly events: OperatorEvents;
  readonly loopDelay: Pick<LoopDelay, "p99Ms">;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
  /** Takes spans. */
  readonly tracer: Tracer;
  /** What became of the spans; undefined where nothing is traced. */
  readonly spanCounts: (() => SpanCounts) | undefined;
  /** Secrets that no log line may hold. */
  readonly secrets: SecretRegistry;
  readonly clock: Clock;
  readonly random: Random;
  readonly table: ProcessTable;
}

/** The rooms that a gateway joins. */
export interface GatewayRooms {
  readonly owner: OwnerRoom;
  readonly dm: DmRoom;
}

/** Makes the rooms of one gateway; nothing of them runs yet. */
export type MakeRooms = (context: GatewayContext) => GatewayRooms | Promise<GatewayRooms>;
