import type { Delivery } from "../../gen/talaria/dm/v1/delivery.js";
import type { ReplyVia } from "../../gen/talaria/owner/v1/execution_store_service.js";
import type { TraceContext } from "../../gen/talaria/types/v1/trace.js";

/** The turn that a worker's message comes from, as the owner knows it. */
export interface MessageOrigin {
  readonly agent: string;
  readonly sessionId: string;
  /** The session's title. */
  readonly title: string;
  /** Depth of the turn's input. */
  readonly depth: number;
  /** Id of the author of the turn's input. */
  readonly inputAuthorId: string;
}

/** A message that a turn wants to send. */
export interface TurnMessage {
  /** May be empty. */
  readonly requestId: string;
  readonly target: string;
  readonly body: string;
  readonly inReplyTo: string;
  readonly trace: TraceContext | undefined;
}

/** The owner's only way to direct messages. */
export interface MessagePort {
  /** Sends a message of a turn's agent; resolves when it is on disk. @throws RpcError. */
  sendFromTurn(
    origin: MessageOrigin,
    message: TurnMessage,
  ): Promise<{ readonly delivery: Delivery; readonly replyVia: ReplyVia; readonly replayed: boolean }>;
  /** Reads a delivery of a turn's agent. @throws RpcError UNKNOWN_DELIVERY. */
  getFromTurn(origin: Pick<MessageOrigin, "agent" | "sessionId">, deliveryId: string): Promise<Delivery>;
}
