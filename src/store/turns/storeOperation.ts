import type { MessageDraft } from "./appendMessages.js";

/** One of the closed set of writes that a worker may make, checked and translated by the owner. */
export type StoreOperationPlan =
  | { readonly kind: "append"; readonly messages: readonly MessageDraft[] }
  | {
      readonly kind: "compact";
      readonly firstRow: number;
      readonly lastRow: number;
      readonly summary: MessageDraft;
      /** Revision that the summary was made from. */
      readonly expectedRevision: number;
    }
  | { readonly kind: "title"; readonly title: string }
  | {
      readonly kind: "usage";
      /** What the calls were for; empty for the turn's own. */
      readonly purpose: string;
      readonly provider: string;
      readonly model: string;
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly apiCalls: number;
      readonly costUsd: number;
    }
  | {
      readonly kind: "child";
      readonly childId: string;
      readonly state: string;
      readonly task: string;
      readonly answer: string;
    }
  | {
      readonly kind: "background";
      readonly processId: string;
      readonly pid: number;
      /** Birth ticks, as decimal text. */
      readonly birth: string;
      readonly processGroup: number;
      readonly command: string;
      readonly state: string;
      readonly exitCode: number | null;
    }
  | { readonly kind: "answer_chunk"; readonly text: string };

/** Why an operation was refused though its fence and sequence were right. */
export type OperationRefusal = "stale_revision" | "no_such_rows" | "bot_chat_title" | "answer_too_long";
