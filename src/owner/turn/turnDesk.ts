import type { ClaimedInput } from "../../store/turns/claimInput.js";
import type { StoredFence } from "../../store/turns/fence.js";
import type { SlotMember } from "../admission/sharedSlot.js";
import type { OwnerFrame } from "../attach/workerLink.js";
import { PromptDesk } from "../prompts/promptDesk.js";
import type { TurnParts } from "./turnParts.js";
import { viewedIn } from "./viewedIn.js";

/** The turn that a desk is for. */
export interface DeskTurn {
  readonly claimed: ClaimedInput;
  readonly fence: StoredFence;
  readonly slot: SlotMember;
  readonly send: (frame: OwnerFrame) => void;
  /** Told after a prompt was raised or ended. */
  readonly onChange: () => void;
}

/** The prompts of a turn. While one is open the turn waits on a person and does not count against the cap. */
export function turnDesk(parts: TurnParts, { claimed, fence, slot, send, onChange }: DeskTurn): PromptDesk {
  const { store, clock, log, random, hub, budgets, listeners } = parts;
  const sessionId = claimed.input.session_id;
  return new PromptDesk({
    store,
    clock,
    log,
    random,
    hub,
    sessionId,
    shownIn: viewedIn(store.reader, claimed),
    agent: claimed.agent,
    fence,
    approvalMs: budgets.approvalMs,
    clarifyMs: budgets.clarifyMs,
    maxOpen: budgets.openPromptsPerExecution,
    lastingGrants: claimed.input.from_message === 0,
    send,
    onOpen: (count) => {
      slot.waits("people", count > 0);
      onChange();
    },
    onWaiting: (promptId) => {
      listeners.promptWaiting(promptId, sessionId);
    },
  });
}
