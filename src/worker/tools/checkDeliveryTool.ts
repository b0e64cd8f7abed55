import { checkDeliveryArguments } from "../../base/tools/checkDeliveryArguments.js";
import type { Delivery } from "../../gen/talaria/dm/v1/delivery.js";
import type { Failure } from "../../gen/talaria/types/v1/failure.js";
import { reasonOfNumber } from "../../rpc/reasons.js";
import { RpcError } from "../../rpc/rpcError.js";
import { recipientAddress, stateSentence, stateWord } from "./deliveryWords.js";
import type { MessageToolContext } from "./messageAgentTool.js";
import { argumentRefusal, refusalText } from "./toolRefusal.js";

/**
 * Runs `check_delivery` with the arguments of a model's call. @returns what the model reads, JSON: where the message stands, with the
 * reply or the failure that ended it, or a refusal.
 * @throws the reason of the stop where the turn is stopped meanwhile; what is no RpcError.
 */
export async function runCheckDelivery(context: MessageToolContext, args: unknown): Promise<string> {
  const parsed = checkDeliveryArguments.safeParse(args);
  if (!parsed.success) return argumentRefusal(parsed.error, "look");
  try {
    return lookText(await context.getDelivery(parsed.data.delivery_id));
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof RpcError)) throw error;
    return refusalText(error, "look");
  }
}

function lookText(delivery: Delivery): string {
  const { deliveryId, state, position, reply, failure, lastError } = delivery;
  return JSON.stringify({
    status: stateWord(state),
    delivery_id: deliveryId,
    to: recipientAddress(delivery),
    ...(position === 0 ? {} : { queue_position: position }),
    ...(reply === undefined
      ? {}
      : {
          reply: reply.text,
          ...(reply.truncated ? { reply_truncated: true, reply_code_points: Number(reply.codePoints) } : {}),
        }),
    ...(failure === undefined ? {} : failureFields(failure)),
    ...(lastError === undefined ? {} : { last_error: failureFields(lastError) }),
    detail: stateSentence(delivery),
  });
}

function failureFields({ reason, foreignReason, message, hint }: Failure): Record<string, string> {
  const name = foreignReason === "" ? (reasonOfNumber(reason) ?? "UNKNOWN_ERROR") : foreignReason;
  return { error: message, reason: name, ...(hint === "" ? {} : { hint }) };
}
