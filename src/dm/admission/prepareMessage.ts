import { LIMITS } from "../../base/limits.js";
import { reasonError } from "../../rpc/rpcError.js";
import type { DeliveryDraft } from "../../store/deliveries/deliveryDraft.js";
import { lanePosition, readDelivery, readDeliveryByKey } from "../../store/deliveries/readDelivery.js";
import type { Neighbourhood } from "../addresses/resolveTarget.js";
import type { Admitted } from "./admitted.js";
import { checkBody, checkKey } from "./checkShape.js";
import type { DoorOptions } from "./doorOptions.js";
import { draftOfMessage } from "./draftOfMessage.js";
import { drainingRefusal } from "./drainingRefusal.js";
import { messageDigest } from "./messageDigest.js";
import type { IncomingMessage } from "./origin.js";
import { resolveRecipient, type Recipient } from "./resolveRecipient.js";
import { deriveSender, type Sender } from "./sender.js";

/**
 * Everything before the transaction: what is to be admitted, or the delivery that an earlier call made. A replay needs
 * neither its recipient nor its sender's rights any more, so a refusal is given where no such delivery is found; the
 * transaction finds it for a message that would not be refused.
 * @param resolve finds the recipient; one that remembers them where many messages come together
 */
export function prepareMessage(
  options: DoorOptions,
  message: IncomingMessage,
  neighbourhood: Neighbourhood,
  resolve: typeof resolveRecipient = resolveRecipient,
): DeliveryDraft | Admitted {
  if (options.isDraining()) throw drainingRefusal();
  if (!options.enabled) throw reasonError("MESSAGING_DISABLED");
  if (message.key !== "" || message.origin.kind !== "agent") checkKey(message.key);
  const checked = checkBody(message.body);
  const sender = deriveSender(message.origin, neighbourhood);
  const { target, inReplyTo } = message;
  const digest = messageDigest({ senderId: sender.author.id, target, body: checked.body, inReplyTo });
  try {
    return draftOfMessage(
      options,
      message,
      { sender, digest, ...checked },
      checkWay(options, message, sender, neighbourhood, resolve),
    );
  } catch (caught) {
    const earlier = findEarlier(options, sender, message, digest);
    if (earlier !== undefined) return earlier;
    throw caught;
  }
}

/** Whether a message may go, and to whom. @throws RpcError. */
function checkWay(
  options: DoorOptions,
  message: IncomingMessage,
  sender: Sender,
  neighbourhood: Neighbourhood,
  resolve: typeof resolveRecipient,
): Recipient {
  if (message.origin.kind === "peer" && message.origin.expiresAt <= options.clock.now()) {
    throw reasonError("MESSAGE_EXPIRED");
  }
  const recipient = resolve(message, sender, neighbourhood, options);
  checkReference(message, sender, options);
  if (message.depth > LIMITS.depth) throw reasonError("DEPTH_EXCEEDED");
  return recipient;
}

/** The delivery that an earlier call with the same key made. @throws RpcError KEY_CONFLICT. */
function findEarlier(
  { store }: DoorOptions,
  { scope }: Sender,
  { key, origin }: IncomingMessage,
  digest: Buffer,
): Admitted | undefined {
  if (key === "") return undefined;
  const delivery = readDeliveryByKey(store.reader, scope, key);
  if (delivery === undefined) return undefined;
  if (!digest.equals(delivery.digest)) throw reasonError("KEY_CONFLICT");
  // A later attempt epoch is not a replay: the transaction decides.
  if (origin.kind === "peer" && origin.attemptEpoch > delivery.attemptEpoch) return undefined;
  return { delivery, position: lanePosition(store.reader, delivery), replayed: true };
}

/** What a message answers must be known here, and be the sender's own affair. A peer's word for its own keys is kept as it is. */
function checkReference({ origin, inReplyTo }: IncomingMessage, sender: Sender, { store }: DoorOptions): void {
  if (inReplyTo === "" || origin.kind === "peer") return;
  const answered = readDelivery(store.reader, inReplyTo);
  const own =
    sender.agent === undefined ||
    answered?.sender.id === sender.author.id ||
    (answered?.recipientGateway === "" && answered.recipientAgent === sender.agent.name);
  if (answered === undefined || !own) throw reasonError("IN_REPLY_TO_UNKNOWN");
}
