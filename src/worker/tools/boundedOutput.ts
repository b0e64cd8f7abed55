/** What is kept of a text without end, bytes. */
export interface OutputBounds {
  /** Of its beginning. */
  readonly head: number;
  /** Of its end. */
  readonly tail: number;
}

/** Keeps the beginning and the end of what a command prints, in memory of that size whatever it prints. */
export class BoundedOutput {
  readonly #bounds: OutputBounds;
  #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #total = 0;

  constructor(bounds: OutputBounds) {
    this.#bounds = bounds;
  }

  /** Bytes so far, kept or not. */
  get total(): number {
    return this.#total;
  }

  /** Adds a piece. */
  add(piece: Buffer): void {
    this.#total += piece.length;
    const room = this.#bounds.head - this.#headBytes;
    const head = piece.subarray(0, Math.max(0, room));
    if (head.length > 0) {
      this.#head.push(Buffer.from(head));
      this.#headBytes += head.length;
    }
    const rest = piece.subarray(head.length);
    if (rest.length === 0) return;
    this.#tail.push(Buffer.from(rest.subarray(Math.max(0, rest.length - this.#bounds.tail))));
    this.#tailBytes += this.#tail.at(-1)?.length ?? 0;
    // Joined only now and then: a copy for every small piece would cost more than the command.
    if (this.#tailBytes > 2 * this.#bounds.tail) this.#trim();
  }

  /** What was kept as text; a mark says how much was left out. */
  text(): string {
    this.#trim();
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    const lost = this.#total - head.length - tail.length;
    if (lost === 0) return Buffer.concat([head, tail]).toString("utf8");
    return `${head.toString("utf8")}\n[… ${String(lost)} bytes left out …]\n${tail.toString("utf8")}`;
  }

  #trim(): void {
    const tail = Buffer.concat(this.#tail);
    const kept = tail.subarray(Math.max(0, tail.length - this.#bounds.tail));
    this.#tail = [Buffer.from(kept)];
    this.#tailBytes = kept.length;
  }
}
