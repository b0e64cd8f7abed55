import { INLINE_ANSWER_BYTES } from "./resultReceipt.js";

/** Remembers what a turn has streamed, for the receipt of a turn that is stopped; at most 1 MiB of it. */
export interface AnswerText {
  /** Adds a streamed piece. */
  add(text: string): void;
  /** What was streamed. */
  readonly text: string;
}

/** Makes an empty {@link AnswerText}. */
export function createAnswerText(): AnswerText {
  let text = "";
  return {
    add(more) {
      if (text.length < INLINE_ANSWER_BYTES) text += more;
    },
    get text() {
      return text;
    },
  };
}
