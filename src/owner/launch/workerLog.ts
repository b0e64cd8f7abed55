import type { Readable } from "node:stream";

import type { Clock } from "../../base/clock.js";
import { cutToCodePoints } from "../../base/codePoints.js";
import type { Logger } from "../../base/logger.js";
import { redact } from "../../base/redaction.js";
import { RotatingFile } from "../../base/rotatingFile.js";
import type { SecretRegistry } from "../../base/secretRegistry.js";
import { cutClean } from "./cutClean.js";
import { LoopShare } from "./loopShare.js";

/** A log file is moved aside once it is this big. */
const MAX_FILE_BYTES = 1_048_576;
/** Longest line that is written; a longer one is cut and marked. */
const MAX_LINE_CODE_POINTS = 4_096;
const CUT_MARK = " [cut]";
/** What has come is written once nothing has followed for so long, milliseconds. */
const QUIET_MS = 100;

/** The file that workers' stdout and stderr go to: private, bounded, one older copy kept, secrets hidden. */
export class WorkerLog {
  readonly #file: RotatingFile;
  readonly #secrets: SecretRegistry;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #share: LoopShare;
  readonly #flushes = new Set<() => void>();
  #closed = false;

  constructor(path: string, secrets: SecretRegistry, log: Logger, clock: Clock) {
    this.#file = new RotatingFile(path, { maxBytes: MAX_FILE_BYTES, kept: 1 });
    this.#secrets = secrets;
    this.#log = log;
    this.#clock = clock;
    this.#share = new LoopShare(clock);
  }

  /**
   * Reads a worker's output to its end, whatever happens to the file: a full pipe would wedge the worker. One that prints without end is
   * read at the pace at which its lines can be written, so that it slows nobody but itself.
   * @param label put before each line, such as the launch id.
   * @returns resolves when all of it was written.
   */
  async drain(output: Readable, label: string): Promise<void> {
    output.setEncoding("utf8");
    this.#append("");
    try {
      await this.#read(output as AsyncIterable<string>, label);
    } catch (error) {
      this.#log.debug({ err: error, label }, "a worker's output broke off");
    }
  }

  /** Writes what has come and closes the file. */
  close(): void {
    for (const flush of [...this.#flushes]) flush();
    this.#closed = true;
    this.#share.close();
    this.#file.close();
  }

  async #read(output: AsyncIterable<string>, label: string): Promise<void> {
    const hide = (text: string): string => redact(text, this.#secrets);
    let gathered = "";
    // Whether the last piece has ended within a line, whose rest is over the cap.
    let within = false;
    const write = (clean: string): void => {
      this.#write(within ? clean.slice(clean.indexOf("\n") + 1 || clean.length) : clean, label);
      if (clean !== "") within = !clean.endsWith("\n");
    };
    const writePiece = (): boolean => {
      const piece = cutClean(gathered, hide);
      if (piece === undefined) return false;
      write(piece.clean.endsWith("\n") ? piece.clean : `${piece.clean}${CUT_MARK}`);
      gathered = piece.rest;
      return true;
    };
    let cancelFlush = (): void => undefined;
    const flush = (upTo: number): void => {
      write(hide(gathered.slice(0, upTo)));
      gathered = gathered.slice(upTo);
    };
    const flushAll = (): void => {
      cancelFlush();
      this.#flushes.delete(flushAll);
      flush(gathered.length);
    };
    this.#flushes.add(flushAll);
    try {
      for await (const chunk of output) {
        cancelFlush();
        gathered += chunk;
        while (await this.#share.run(writePiece));
        cancelFlush = this.#clock.after(QUIET_MS, () => {
          flush(gathered.lastIndexOf("\n") + 1);
        });
      }
    } finally {
      flushAll();
    }
  }

  // Cut after it was cleaned, so that no half of a secret stays.
  #write(clean: string, label: string): void {
    if (this.#closed || clean === "") return;
    const lines = (clean.endsWith("\n") ? clean.slice(0, -1) : clean).split("\n");
    const text = lines.map((line) => `${label} ${cutToCodePoints(line, MAX_LINE_CODE_POINTS, CUT_MARK)}\n`).join("");
    this.#append(text);
  }

  #append(text: string): void {
    try {
      this.#file.append(text);
    } catch (error) {
      this.#log.warn({ err: error }, "worker log cannot be written");
    }
  }
}
