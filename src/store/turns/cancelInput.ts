import { defineCommand } from "../command.js";
import { endDeliveryByTurn } from "../deliveries/endDeliveryByTurn.js";
import { cancelQueuedInput } from "./cancelQueuedInput.js";
import type { DeliveryEffects } from "../deliveries/deliveryEffects.js";
import { noEffects } from "../deliveries/deliveryEffects.js";
import type { InputRow } from "./inputRow.js";
import { inputRow } from "./inputRow.js";

/** What became of a cancellation. */
export type CancelInputResult =
  | { readonly kind: "cancelled"; readonly sessionId: string; readonly effects: DeliveryEffects }
  | { readonly kind: "not_queued"; readonly state: InputRow["state"] }
  | { readonly kind: "unknown_input" };

/** Withdraws a queued input; a message that it carried is cancelled with it. */
export const cancelInput = defineCommand<{ readonly inputId: string; readonly now: number }, CancelInputResult>({
  name: "turn.cancel",
  run(tx, { inputId, now }) {
    const input = inputRow(tx, inputId);
    if (input === undefined) return { kind: "unknown_input" };
    if (!cancelQueuedInput(tx, { inputId, now })) return { kind: "not_queued", state: input.state };
    const effects =
      input.delivery_id === null
        ? noEffects()
        : endDeliveryByTurn(tx, {
            deliveryId: input.delivery_id,
            executionId: "",
            end: { outcome: "cancelled", text: "" },
            now,
          });
    // What waited behind the retry of a message that met a limit need not wait with it.
    effects.wake.push(input.session_id);
    return { kind: "cancelled", sessionId: input.session_id, effects };
  },
});
