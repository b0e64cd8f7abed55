import { messageAgentArguments } from "../../base/tools/messageAgentArguments.js";
import { ReplyVia, type SendDirectMessageResponse } from "../../gen/talaria/owner/v1/execution_store_service.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { TurnContext } from "../turnContext.js";
import { recipientAddress, stateWord } from "./deliveryWords.js";
import { argumentRefusal, refusalText } from "./toolRefusal.js";

/** What of a turn the message tools use. */
export type MessageToolContext = Pick<TurnContext, "sendDirectMessage" | "getDelivery" | "signal">;

/**
 * Runs `message_agent` with the arguments of a model's call. @returns what the model reads, JSON: the ack of a message that is on the
 * gateway's disk, or a refusal. An ack never says that the message was read.
 * @throws the reason of the stop where the turn is stopped meanwhile; what is no RpcError.
 */
export async function runMessageAgent(context: MessageToolContext, args: unknown): Promise<string> {
  const parsed = messageAgentArguments.safeParse(args);
  if (!parsed.success) return argumentRefusal(parsed.error, "send");
  const { target, message, in_reply_to: inReplyTo = "" } = parsed.data;
  try {
    return ackText(await context.sendDirectMessage({ target, body: message, inReplyTo }));
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof RpcError)) throw error;
    return refusalText(error, "send");
  }
}

function ackText({ delivery, replyVia, replayed }: SendDirectMessageResponse): string {
  if (delivery === undefined) {
    return refusalText(new RpcError("MALFORMED_MESSAGE", { message: "The answer holds no delivery." }), "send");
  }
  const poll = replyVia === ReplyVia.REPLY_VIA_POLL;
  return JSON.stringify({
    status: stateWord(delivery.state),
    delivery_id: delivery.deliveryId,
    to: recipientAddress(delivery),
    reply_via: poll ? "poll" : "notification",
    ...(delivery.position === 0 ? {} : { queue_position: delivery.position }),
    ...(replayed ? { already_sent: true } : {}),
    detail: [
      replayed
        ? "You have sent the same message before and it has not ended; this is that delivery, and nothing was sent twice."
        : "The message is on disk and waits for the recipient; it is not read yet.",
      poll
        ? "The reply does not come to this session: look with check_delivery, now and then, before you finish."
        : "Do not wait: finish your turn. The reply, or why there is none, comes as an input of its own.",
    ].join(" "),
  });
}
