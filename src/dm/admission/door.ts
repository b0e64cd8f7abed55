import { reasonError, RpcError } from "../../rpc/rpcError.js";
import { admitDeliveries, admitDelivery, type BatchAdmission } from "../../store/deliveries/admitDelivery.js";
import type { DeliveryDraft } from "../../store/deliveries/deliveryDraft.js";
import type { Neighbourhood } from "../addresses/resolveTarget.js";
import type { Admitted } from "./admitted.js";
import type { DoorOptions } from "./doorOptions.js";
import type { IncomingMessage } from "./origin.js";
import { prepareMessage } from "./prepareMessage.js";
import { rememberRecipients } from "./rememberRecipients.js";
import { storeRefusal } from "./refusals.js";

/** What became of one message of a batch. */
export type BatchResult = Admitted | { readonly refused: RpcError };

/** The one door through which every message of every origin comes. */
export interface Door {
  /**
   * Checks the shape, looks up the key, resolves, derives the author, checks the depth, and commits; resolves when the message is
   * on disk.
   * @throws RpcError with the reasons of the contract; then nothing was kept.
   */
  admit(message: IncomingMessage): Promise<Admitted>;
  /**
   * The same for messages in their order, committed together. After one that was not accepted, later ones for the same recipient
   * are refused with BATCH_ITEM_HELD_BACK.
   * @throws RpcError where the store failed; then nothing was kept.
   */
  admitBatch(messages: readonly IncomingMessage[]): Promise<readonly BatchResult[]>;
}

/** Makes the door. */
export function createDoor(options: DoorOptions): Door {
  const { writer } = options.store;
  const finish = (admission: BatchAdmission): Admitted => {
    if (admission.kind === "heldBack") throw reasonError("BATCH_ITEM_HELD_BACK");
    if (admission.kind === "refused") throw storeRefusal(admission);
    const { delivery, position } = admission;
    if (admission.kind === "accepted") options.afterCommit(admission.effects, delivery);
    return { delivery, position, replayed: admission.kind === "replayed" };
  };
  return {
    async admit(message) {
      const prepared = prepareMessage(options, message, neighbourhoodOf(options));
      if ("delivery" in prepared) return prepared;
      return finish(await writer.execute(admitDelivery, prepared));
    },
    async admitBatch(messages) {
      const results: (BatchResult | undefined)[] = [];
      const drafts: { readonly index: number; readonly draft: DeliveryDraft }[] = [];
      const held = new Set<string>();
      const neighbourhood = neighbourhoodOf(options);
      const resolve = rememberRecipients();
      for (const [index, message] of messages.entries()) {
        const recipient = message.target.toLowerCase();
        const prepared = held.has(recipient)
          ? { refused: reasonError("BATCH_ITEM_HELD_BACK") }
          : attempt(() => prepareMessage(options, message, neighbourhood, resolve));
        if ("deliveryId" in prepared) drafts.push({ index, draft: prepared });
        else results[index] = prepared;
        if ("refused" in prepared) held.add(recipient);
      }
      const admissions =
        drafts.length === 0
          ? []
          : await writer.execute(
              admitDeliveries,
              drafts.map(({ draft }) => draft),
            );
      for (const [place, { index }] of drafts.entries()) {
        const admission = admissions[place] ?? { kind: "heldBack" };
        results[index] = attempt(() => finish(admission));
      }
      return results.map((result) => result ?? { refused: reasonError("BATCH_ITEM_HELD_BACK") });
    },
  };
}

function attempt<T>(run: () => T): T | { readonly refused: RpcError } {
  try {
    return run();
  } catch (caught) {
    return { refused: RpcError.from(caught) };
  }
}

function neighbourhoodOf({ agents, peers, relays, rosterOf }: DoorOptions): Neighbourhood {
  return {
    agents: agents.list(),
    peers: peers.list(),
    relays: relays(),
    ...(rosterOf === undefined ? {} : { rosterOf }),
  };
}
