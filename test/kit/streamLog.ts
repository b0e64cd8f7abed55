import { show, WAIT_MS } from "./waitFor.js";

/** What a stream has brought, in order, to be waited for. */
export class StreamLog<T> {
  /** Everything so far. */
  readonly items: T[] = [];
  /** Whether the stream has ended. */
  over = false;
  /** What it ended with; undefined for a good end. */
  error: unknown;
  readonly #describe: (item: T) => unknown;
  #wake: (() => void)[] = [];

  /** @param describe what a report says of an item. */
  constructor(describe: (item: T) => unknown = (item) => item) {
    this.#describe = describe;
  }

  /** Takes an item in. */
  add(item: T): void {
    this.items.push(item);
    this.#look();
  }

  /** Notes the end. */
  end(error?: unknown): void {
    this.over = true;
    this.error = error;
    this.#look();
  }

  /** Reads a stream to its end, in the background. */
  follow(stream: AsyncIterable<T>): this {
    const read = async (): Promise<void> => {
      for await (const item of stream) this.add(item);
    };
    read().then(
      () => {
        this.end();
      },
      (error: unknown) => {
        this.end(error);
      },
    );
    return this;
  }

  /** Waits until `look` finds something. @throws Error naming what has come, after the wait or the stream's end. */
  async until<R>(what: string, look: () => R | undefined, waitMs = WAIT_MS): Promise<R> {
    const deadline = performance.now() + waitMs;
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      const left = deadline - performance.now();
      if (left <= 0) throw new Error(`no ${what} in ${String(waitMs)} ms; ${this.#report()}`);
      if (this.over) throw new Error(`no ${what} before the end; ${this.#report()}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  /** Waits for the first item that is so. */
  first(what: string, is: (item: T) => boolean, after = 0): Promise<T> {
    return this.until(what, () => this.items.slice(after).find(is));
  }

  /** Waits for the end. @returns what it ended with. */
  async ended(waitMs = WAIT_MS): Promise<unknown> {
    if (!this.over) {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new Error(`no end in ${String(waitMs)} ms; ${this.#report()}`));
        }, waitMs);
        const look = (): void => {
          if (!this.over) {
            this.#wake.push(look);
            return;
          }
          clearTimeout(timer);
          resolve();
        };
        this.#wake.push(look);
      });
    }
    return this.error;
  }

  #report(): string {
    const last = this.items.slice(-30).map((item) => this.#describe(item));
    const end = this.over ? `; ended with ${this.error instanceof Error ? this.error.message : show(this.error)}` : "";
    return `so far: ${show(last)}${end}`;
  }

  #look(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const run of wake) run();
  }
}
