import type { StoredDelivery } from "./storedDelivery.js";

/** What the sending session is told about an end. @param handle how the recipient is written there, without `@`. */
export function noticeText(delivery: StoredDelivery, handle: string): string {
  const { reply, failure } = delivery;
  const to = `Your message to @${handle} (${delivery.deliveryId})`;
  const why =
    failure === undefined ? "" : ` ${failure.message} [${failure.foreignReason ?? failure.reason}] ${failure.hint}`;
  switch (delivery.state) {
    case "replied":
      if (reply === undefined) return "";
      return reply.truncated
        ? `${reply.text}\n[Only the first part of ${String(reply.codePoints)} code points; the rest is in the recipient's transcript.]`
        : reply.text;
    case "silent":
      return `${to} was read; the recipient chose not to answer.`;
    case "failed":
      return `${to} was not delivered.${why}`;
    case "expired":
      return `${to} was not delivered: its time ran out before the recipient could start on it.`;
    case "cancelled":
      return `${to} was withdrawn before the recipient started on it.`;
    case "unknown":
      return `It is not known whether ${to.charAt(0).toLowerCase()}${to.slice(1)} had an effect; do not send it again blindly.${why}`;
    case "queued":
    case "claimed":
      return "";
  }
}
