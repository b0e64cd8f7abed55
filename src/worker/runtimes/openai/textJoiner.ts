/**
 * Holds back half a surrogate pair until its other half comes: a stream may cut a character in two, and neither half survives UTF-8.
 */
export class TextJoiner {
  #held = "";

  /** Takes a piece. @returns what can be passed on. */
  add(piece: string): string {
    const text = this.#held + piece;
    const last = text.charCodeAt(text.length - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff;
    this.#held = isHalf ? text.slice(-1) : "";
    return isHalf ? text.slice(0, -1) : text;
  }
}
