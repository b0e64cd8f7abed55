const LINE_FEED = 0x0a;

/** Splits what a program prints into lines, in memory of one longest line whatever it prints. */
export class BoundedLines {
  readonly #limit: number;
  #held: Buffer[] = [];
  #bytes = 0;
  #tooLong = false;

  /** @param limit longest line, bytes, with the end of the line */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether a line was longer: nothing more comes out then. */
  get tooLong(): boolean {
    return this.#tooLong;
  }

  /** Takes a piece. @returns the lines that it completes, each with its end. */
  *take(piece: Buffer): Generator<Buffer, void> {
    for (let from = 0; from < piece.length && !this.#tooLong;) {
      const end = piece.indexOf(LINE_FEED, from);
      const part = piece.subarray(from, end < 0 ? piece.length : end + 1);
      from += part.length;
      this.#held.push(part);
      this.#bytes += part.length;
      if (this.#bytes > this.#limit) {
        this.#tooLong = true;
        this.#held = [];
        return;
      }
      if (end < 0) return;
      const line = Buffer.concat(this.#held);
      this.#held = [];
      this.#bytes = 0;
      yield line;
    }
  }
}
