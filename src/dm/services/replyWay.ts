import type { StoredDelivery } from "../../store/deliveries/storedDelivery.js";

/** What decides how a turn learns what became of its message. */
export interface ReplyWayFacts {
  readonly delivery: Pick<StoredDelivery, "senderSessionId" | "toldAt">;
  /** Session of the turn that asks. */
  readonly sessionId: string;
  /** Whether that session goes on by itself to what is queued for it. */
  readonly takesInputs: boolean;
}

/**
 * How a turn learns what became of its message: as an input of its session, or by looking. It must look where its session would not
 * get the input: another session sent the message first, the end was told before, or the session does not take inputs. Pure.
 */
export function replyWay({ delivery, sessionId, takesInputs }: ReplyWayFacts): "notification" | "poll" {
  const comes = takesInputs && delivery.senderSessionId === sessionId && delivery.toldAt === undefined;
  return comes ? "notification" : "poll";
}
