import { defineCommand } from "../command.js";
import type { PromptRow } from "./promptRow.js";
import { promptRow } from "./promptRow.js";
import { touchSession } from "./touchSession.js";

/** Why a prompt is no longer open; mirrors the contract's PromptEnd. */
export type StoredPromptEnd =
  "answered" | "expired" | "stopped" | "withdrawn" | "execution_ended" | "headless" | "coalesced";

/** The end of a prompt. */
export interface PromptEnding {
  readonly promptId: string;
  readonly end: StoredPromptEnd;
  /** The choice's or answer's text; absent where nobody answered. */
  readonly answer?: string;
  /** Principal who answered. */
  readonly answeredBy?: string;
  /** A lasting grant that the answer gives. */
  readonly grant?: { readonly grantId: string; readonly agent: string; readonly command: string };
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What became of it: the first end stands. */
export type PromptEnded =
  | { readonly kind: "ended"; readonly prompt: PromptRow }
  | { readonly kind: "already_ended"; readonly prompt: PromptRow }
  | { readonly kind: "unknown_prompt" };

/** Ends a prompt and frees its slot; a lasting grant is stored in the same commit. */
export const endPrompt = defineCommand<PromptEnding, PromptEnded>({
  name: "prompt.end",
  run(tx, ending) {
    const before = promptRow(tx, ending.promptId);
    if (before === undefined) return { kind: "unknown_prompt" };
    if (before.end !== null) return { kind: "already_ended", prompt: before };
    tx.run(
      "UPDATE prompts SET end = ?, answer = ?, answered_by = ?, ended_at = ? WHERE prompt_id = ?",
      ending.end,
      ending.answer ?? null,
      ending.answeredBy ?? null,
      ending.now,
      ending.promptId,
    );
    if (ending.grant) {
      tx.run(
        "INSERT OR IGNORE INTO grants (grant_id, agent, command, granted_by, granted_at) VALUES (?, ?, ?, ?, ?)",
        ending.grant.grantId,
        ending.grant.agent,
        ending.grant.command,
        ending.answeredBy ?? "",
        ending.now,
      );
    }
    touchSession(tx, before.session_id, ending.now);
    const after = promptRow(tx, ending.promptId);
    return { kind: "ended", prompt: after ?? before };
  },
});
