import { DeliveryState, type Delivery } from "../../gen/talaria/dm/v1/delivery.js";
import { DirectMessageServiceService } from "../../gen/talaria/dm/v1/direct_message_service.js";
import {
  AdminServiceService,
  type Destination,
  type GetStatusResponse,
  type Worker,
} from "../../gen/talaria/gateway/v1/admin_service.js";
import type { Session } from "../../gen/talaria/gateway/v1/session.js";
import { SessionServiceService } from "../../gen/talaria/gateway/v1/session_service.js";
import { TurnServiceService } from "../../gen/talaria/gateway/v1/turn_service.js";
import type { Prompt } from "../../gen/talaria/types/v1/prompt.js";
import type { GatewayClient } from "../gatewayClient.js";

/** What `talaria top` shows of a gateway at one moment. */
export interface Snapshot {
  /** When it was read, epoch milliseconds. */
  readonly at: number;
  readonly status: GetStatusResponse;
  readonly workers: readonly Worker[];
  /** Most recently changed first. */
  readonly sessions: readonly Session[];
  /** Open ones, oldest first. */
  readonly prompts: readonly Prompt[];
  /** Those on their way and dead letters. */
  readonly deliveries: readonly Delivery[];
  readonly destinations: readonly Destination[];
}

/** Rows of a kind that are read; a screen holds fewer. */
const ROWS = 100;

const SHOWN_STATES: DeliveryState[] = [
  DeliveryState.DELIVERY_STATE_QUEUED,
  DeliveryState.DELIVERY_STATE_CLAIMED,
  DeliveryState.DELIVERY_STATE_FAILED,
  DeliveryState.DELIVERY_STATE_EXPIRED,
  DeliveryState.DELIVERY_STATE_UNKNOWN,
];

/** Reads a gateway. @throws RpcError. */
export async function readSnapshot(gateway: GatewayClient, at: number): Promise<Snapshot> {
  const page = { pageSize: ROWS, pageToken: "" };
  const [status, { workers }, { sessions }, { prompts }, { deliveries }, { destinations }] = await Promise.all([
    gateway.call(AdminServiceService.getStatus, {}),
    gateway.call(AdminServiceService.listWorkers, {}),
    gateway.call(SessionServiceService.listSessions, { ...page, agent: "", states: [], parentSessionId: "" }),
    gateway.call(TurnServiceService.listPrompts, { ...page, sessionId: "" }),
    gateway.call(DirectMessageServiceService.listDeliveries, { ...page, states: SHOWN_STATES, agent: "", gateway: "" }),
    gateway.call(AdminServiceService.listDestinations, {}),
  ]);
  return { at, status, workers, sessions, prompts, deliveries, destinations };
}
