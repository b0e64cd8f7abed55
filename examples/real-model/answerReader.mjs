// Takes what a model writes apart into text and one call, as it comes.
import { CALL_CLOSES, CALL_OPENS } from "./toolGrammar.mjs";

const CALL_BEGINS = new RegExp(`^${CALL_OPENS}\\{"name": ("(?:[^"\\\\]|\\\\.)*"), "arguments": `);
/** What ends a call after its arguments. */
const CALL_ENDS = `}${CALL_CLOSES}`;

/**
 * @typedef {{ kind: "text", text: string } | { kind: "call", name: string } | { kind: "arguments", text: string }} Piece
 */

/** Reads one answer. A text is passed on as it comes; of a call everything but its frame. */
export class AnswerReader {
  #mayCall;
  /** What has come and is not passed on. */
  #held = "";
  /** @type {"start" | "text" | "call"} */
  #in = "start";
  /** Whether the call was closed. */
  #closed = false;

  /** @param {boolean} mayCall whether an answer that begins like a call is one */
  constructor(mayCall) {
    this.#mayCall = mayCall;
  }

  /** Whether a whole call has come. */
  get called() {
    return this.#closed;
  }

  /** @param {string} text @returns {Piece[]} */
  add(text) {
    this.#held += text;
    if (this.#in === "start") {
      if (this.#mayCall && CALL_OPENS.startsWith(this.#held.slice(0, CALL_OPENS.length))) {
        const begins = CALL_BEGINS.exec(this.#held);
        if (begins === null) return [];
        this.#held = this.#held.slice(begins[0].length);
        this.#in = "call";
        return [{ kind: "call", name: JSON.parse(begins[1] ?? '""') }, ...this.add("")];
      }
      this.#in = "text";
    }
    if (this.#in === "text") return this.#pass("text", this.#held.length);
    this.#closed = this.#held.endsWith(CALL_ENDS);
    return this.#pass("arguments", this.#held.length - CALL_ENDS.length);
  }

  /** The answer ends here. @returns {Piece[]} what was held back; of a call that was cut, all of it. */
  end() {
    if (this.#closed) return [];
    return this.#pass(this.#in === "call" ? "arguments" : "text", this.#held.length);
  }

  /** @param {"text" | "arguments"} kind @param {number} length @returns {Piece[]} */
  #pass(kind, length) {
    if (length <= 0) return [];
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return [{ kind, text }];
  }
}
