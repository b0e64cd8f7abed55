import type { TraceContext } from "../../gen/talaria/types/v1/trace.js";
import { ReplyVia } from "../../gen/talaria/owner/v1/execution_store_service.js";
import type { Delivery } from "../../gen/talaria/dm/v1/delivery.js";
import type { Clock } from "../../base/clock.js";
import { reasonError } from "../../rpc/rpcError.js";
import { agentAuthorId } from "../../store/deliveries/authorIds.js";
import { consumeEnd } from "../../store/deliveries/consumeEnd.js";
import { isEnded } from "../../store/deliveries/deliveryState.js";
import { lanePosition, readDelivery } from "../../store/deliveries/readDelivery.js";
import { takesInputs } from "../../store/queries/takesInputs.js";
import type { Store } from "../../store/store.js";
import { BOT_CHAT_TITLE } from "../../store/turns/ensureBotChat.js";
import type { Door } from "../admission/door.js";
import type { AgentDirectory } from "../ports/directory.js";
import { notOffered } from "../tools/notOffered.js";
import { toDelivery } from "../wire/deliveryWire.js";
import { replyWay } from "./replyWay.js";

/** The turn that a worker's call belongs to, as its owner has proved it. */
export interface SendingTurn {
  /** The turn's agent. */
  readonly agent: string;
  readonly sessionId: string;
  /** The session's title. */
  readonly title: string;
  /** Depth of the turn's input; 0 for a client's. */
  readonly depth: number;
  /** Id of the author of the turn's input, such as `agent:coder`; the loop guard counts by it. */
  readonly inputAuthorId: string;
}

/** A message that a turn wants to send; the fields of the worker's request. */
export interface TurnMessage {
  /** Empty: the agent's open delivery of the same digest, or a fresh one. */
  readonly requestId: string;
  readonly target: string;
  readonly body: string;
  readonly inReplyTo: string;
  readonly trace: TraceContext | undefined;
}

/** What the owner's store service asks of messages, for the turn's own agent. */
export interface WorkerMessages {
  /**
   * Sends a message; resolves when it is on disk.
   * @throws RpcError NOT_BOT_CHAT, MESSAGING_DISABLED, and what the door refuses with.
   */
  sendFromTurn(
    turn: SendingTurn,
    message: TurnMessage,
  ): Promise<{ readonly delivery: Delivery; readonly replyVia: ReplyVia; readonly replayed: boolean }>;
  /**
   * Reads a delivery that the turn's agent sent. An end that is read in the session that sent it counts as told: the input
   * that waits to tell it is taken back.
   * @throws RpcError UNKNOWN_DELIVERY, for another agent's too.
   */
  getFromTurn(turn: Pick<SendingTurn, "agent" | "sessionId">, deliveryId: string): Promise<Delivery>;
}

/** What {@link createWorkerMessages} needs. */
export interface WorkerMessagesOptions {
  readonly door: Door;
  readonly agents: AgentDirectory;
  readonly store: Pick<Store, "writer" | "reader">;
  readonly clock: Clock;
}

const REPLY_VIA = { notification: ReplyVia.REPLY_VIA_NOTIFICATION, poll: ReplyVia.REPLY_VIA_POLL } as const;

/** Makes the worker's way to messages. */
export function createWorkerMessages({ door, agents, store, clock }: WorkerMessagesOptions): WorkerMessages {
  return {
    async sendFromTurn(turn, message) {
      if (turn.title !== BOT_CHAT_TITLE) throw notOffered("NOT_BOT_CHAT");
      if (agents.get(turn.agent)?.messaging !== true) throw notOffered("MESSAGING_DISABLED");
      const { delivery, position, replayed } = await door.admit({
        origin: { kind: "agent", agent: turn.agent, sessionId: turn.sessionId, startedBy: turn.inputAuthorId },
        key: message.requestId,
        target: message.target,
        body: message.body,
        inReplyTo: message.inReplyTo,
        depth: turn.depth + 1,
        traceparent: message.trace?.traceparent ?? "",
        tracestate: message.trace?.tracestate ?? "",
      });
      const { sessionId } = turn;
      const way = replyWay({ delivery, sessionId, takesInputs: takesInputs(store.reader, sessionId) });
      return { delivery: toDelivery(delivery, position), replyVia: REPLY_VIA[way], replayed };
    },
    async getFromTurn({ agent, sessionId }, deliveryId) {
      const delivery = readDelivery(store.reader, deliveryId);
      if (delivery?.sender.id !== agentAuthorId("", agent)) throw reasonError("UNKNOWN_DELIVERY");
      if (isEnded(delivery.state) && delivery.senderSessionId === sessionId) {
        await store.writer.execute(consumeEnd, { deliveryId, sessionId, now: clock.now() });
      }
      return toDelivery(delivery, lanePosition(store.reader, delivery));
    },
  };
}
