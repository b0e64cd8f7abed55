import { toDelivery } from "../../dm/wire/deliveryWire.js";
import type { StoredDelivery } from "../../store/deliveries/storedDelivery.js";
import type { OperatorEvents } from "../admin/operatorEvents.js";
import type { Notifier } from "../notify/notifier.js";

/** What tells operators of dead letters: an event without the body, and one run of their command. */
export function deadLetters(
  events: Pick<OperatorEvents, "publish">,
  notify: Notifier["notify"],
): (delivery: StoredDelivery) => void {
  return (delivery) => {
    const { deliveryId, recipientGateway, recipientAgent, failure } = delivery;
    events.publish({ $case: "deadLetter", value: { delivery: { ...toDelivery(delivery, 0), body: "" } } });
    notify({
      kind: "dead_letter",
      deliveryId,
      recipient: recipientGateway === "" ? recipientAgent : `${recipientGateway}/${recipientAgent}`,
      reason: failure?.foreignReason ?? failure?.reason ?? "",
    });
  };
}
