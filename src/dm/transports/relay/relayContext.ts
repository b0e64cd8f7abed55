import type { Budgets } from "../../../base/budgets.js";
import type { Clock } from "../../../base/clock.js";
import type { Logger } from "../../../base/logger.js";
import type { Random } from "../../../base/random.js";
import type { ConnectRequest, ConnectResponse } from "../../../gen/talaria/dm/v1/relay_service.js";
import type { BidiStream } from "../../../rpc/harness/methods.js";
import type { Tracer } from "../../../rpc/tracing/tracer.js";
import type { Store } from "../../../store/store.js";
import type { Door } from "../../admission/door.js";
import type { AfterCommit } from "../../afterCommit.js";
import type { DeliveryHub } from "../../deliveryHub.js";
import type { GatewayIdentity } from "../../gatewayInfo.js";
import type { AgentDirectory } from "../../ports/directory.js";
import type { ConnectorDirectory } from "../../relay/connectorDirectory.js";
import type { RelayRosters } from "../../relay/relayRosters.js";

/** The gateway's side of one connector's call. */
export type RelayStream = BidiStream<ConnectRequest, ConnectResponse>;

/** A frame to a connector. */
export type RelayFrame = NonNullable<ConnectResponse["frame"]>;

/** What moving messages through connectors needs. */
export interface RelayContext {
  readonly identity: GatewayIdentity;
  readonly store: Pick<Store, "writer" | "reader">;
  readonly connectors: ConnectorDirectory;
  readonly rosters: RelayRosters;
  readonly agents: AgentDirectory;
  readonly door: Door;
  readonly hub: DeliveryHub;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly afterCommit: AfterCommit;
  readonly tracer: Tracer;
}

/** Time between two heartbeats of a connector, milliseconds: two may be lost before a lease lapses. */
export function relayHeartbeatMs({ heartbeatIntervalMs, relayLeaseMs }: Budgets): number {
  return Math.max(1, Math.min(heartbeatIntervalMs, Math.floor(relayLeaseMs / 3)));
}
