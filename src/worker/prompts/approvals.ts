import { cutToCodePoints } from "../../base/codePoints.js";
import { ApprovalChoice, type ApprovalRequest } from "../../gen/talaria/types/v1/prompt.js";
import { offeredChoices } from "./offeredChoices.js";
import type { TurnApprovals } from "./approvalMode.js";
import type { PromptOutcome, PromptTable } from "./promptTable.js";

/** What became of an approval. `cause` says who or what decided. */
export interface ApprovalDecision {
  /** Whether the command may run. */
  readonly allowed: boolean;
  /** The choice where a person made one, else undefined. */
  readonly choice: ApprovalChoice | undefined;
  /**
   * `granted`: allowed without asking, by a grant. `policy`: allowed or denied without asking, by the agent's policy. `answered`: a person chose. `expired`, `stopped`, `headless`: denied by the clock, by
   * Stop, for want of anybody to ask. `refused`: denied because too many prompts are open.
   */
  readonly cause: "granted" | "policy" | PromptOutcome<never>["kind"];
}

/** What {@link Approvals} needs. */
export interface ApprovalsOptions {
  readonly table: PromptTable;
  /** What the agent's policy says for this turn; its word comes before grants. */
  readonly mode: TurnApprovals;
  /** Removes secrets from what is shown. */
  readonly redact: (text: string) => string;
  /** Commands that need no approval in this turn. */
  readonly granted: readonly string[];
  /** True where nobody can answer. */
  readonly headless: boolean;
  /** Time for an answer, milliseconds. */
  readonly expiresMs: number;
}

/** Longest command and description, and longest path and diff, in code points. Source: ApprovalRequest. */
const COMMAND_LIMIT = 16_384;
const DESCRIPTION_LIMIT = 4_096;
const PATH_LIMIT = 4_096;
const DIFF_LIMIT = 65_536;

/** Asks about dangerous commands. */
export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #granted: Set<string>;
  readonly #asking = new Map<string, Promise<ApprovalDecision>>();

  constructor(options: ApprovalsOptions) {
    this.#options = options;
    this.#granted = new Set(options.granted);
  }

  /**
   * Decides about a command. An identical request that waits is joined: `session`, `always`, a denial and an expiry count for all
   * that wait, `once` only for the one that asked first, so the next one asks again.
   */
  async ask(request: ApprovalRequest): Promise<ApprovalDecision> {
    const { mode } = this.#options;
    if (mode !== "ask") return { allowed: mode === "allow", choice: undefined, cause: "policy" };
    const key = JSON.stringify([request.command, request.edit?.path, request.edit?.diff]);
    for (;;) {
      if (request.edit === undefined && this.#granted.has(request.command)) {
        return { allowed: true, choice: undefined, cause: "granted" };
      }
      if (this.#options.headless) return { allowed: false, choice: undefined, cause: "headless" };
      const leader = this.#asking.get(key);
      if (leader === undefined) return this.#lead(key, request);
      const decision = await leader;
      if (decision.choice !== ApprovalChoice.APPROVAL_CHOICE_ONCE) return decision;
    }
  }

  async #lead(key: string, request: ApprovalRequest): Promise<ApprovalDecision> {
    const asking = this.#raise(request);
    this.#asking.set(key, asking);
    try {
      return await asking;
    } finally {
      this.#asking.delete(key);
    }
  }

  async #raise(request: ApprovalRequest): Promise<ApprovalDecision> {
    const { table, expiresMs } = this.#options;
    const shown = this.#shown(request);
    const outcome = await table.raise<ApprovalChoice>(
      (promptId) => ({ $case: "approval", value: { promptId, request: shown } }),
      expiresMs,
    );
    if (outcome.kind !== "answered") return { allowed: false, choice: undefined, cause: outcome.kind };
    // An answer that was not offered must not widen what was asked for.
    const offered = offeredChoices(request).includes(outcome.answer);
    const choice = offered ? outcome.answer : ApprovalChoice.APPROVAL_CHOICE_DENY;
    const lasting =
      choice === ApprovalChoice.APPROVAL_CHOICE_SESSION || choice === ApprovalChoice.APPROVAL_CHOICE_ALWAYS;
    if (lasting) this.#granted.add(request.command);
    return { allowed: choice !== ApprovalChoice.APPROVAL_CHOICE_DENY, choice, cause: "answered" };
  }

  #shown(request: ApprovalRequest): ApprovalRequest {
    const { redact } = this.#options;
    const { edit } = request;
    return {
      ...request,
      command: cutToCodePoints(redact(request.command), COMMAND_LIMIT, "…"),
      description: cutToCodePoints(redact(request.description), DESCRIPTION_LIMIT, "…"),
      edit:
        edit === undefined
          ? undefined
          : {
              path: cutToCodePoints(edit.path, PATH_LIMIT, "…"),
              diff: cutToCodePoints(redact(edit.diff), DIFF_LIMIT, "…"),
            },
    };
  }
}
