import { chmodSync, closeSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";

/** How large a {@link RotatingFile} becomes. */
export interface Rotation {
  /** Size from which on a file is put aside, bytes. One entry that is larger than it has a file of its own. */
  readonly maxBytes: number;
  /** How many files that were put aside are kept. */
  readonly kept: number;
}

/** A file of mode 0600 that grows at its end. A full one becomes `<path>.1`, that one `<path>.2`, and so on; the oldest goes. */
export class RotatingFile {
  readonly #path: string;
  readonly #rotation: Rotation;
  #file: number | undefined;
  #size = 0;

  constructor(path: string, rotation: Rotation) {
    this.#path = path;
    this.#rotation = rotation;
  }

  /** Adds a text, whole, to one file. After a failure the next one opens the file anew. @throws the system's error. */
  append(text: string): void {
    const bytes = Buffer.from(text);
    try {
      let file = this.#file ?? this.#open();
      if (this.#size > 0 && this.#size + bytes.length > this.#rotation.maxBytes) {
        this.#putAside();
        file = this.#open();
      }
      this.#size += writeSync(file, bytes);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Lets go of the file; the next text opens it again. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #open(): number {
    this.#file = openSync(this.#path, "a", 0o600);
    chmodSync(this.#path, 0o600);
    this.#size = fstatSync(this.#file).size;
    return this.#file;
  }

  #putAside(): void {
    this.close();
    for (let number = this.#rotation.kept - 1; number >= 0; number -= 1) {
      const from = number === 0 ? this.#path : `${this.#path}.${String(number)}`;
      try {
        renameSync(from, `${this.#path}.${String(number + 1)}`);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      }
    }
  }
}
