import type { Readable } from "node:stream";

import { cutToCodePoints } from "../../base/codePoints.js";
import type { Logger } from "../../base/logger.js";
import { redact } from "../../base/redaction.js";
import { RotatingFile } from "../../base/rotatingFile.js";
import type { SecretRegistry } from "../../base/secretRegistry.js";

/** A log file is moved aside once it is this big. */
const MAX_FILE_BYTES = 1_048_576;
/** Longest line that is written; a longer one is cut and marked. */
const MAX_LINE_CODE_POINTS = 4_096;
/** Longest text that is gathered while no line end comes. */
const MAX_GATHERED = 65_536;
const CUT_MARK = " [cut]";

/** The file that workers' stdout and stderr go to: private, bounded, one older copy kept, secrets hidden. */
export class WorkerLog {
  readonly #file: RotatingFile;
  readonly #secrets: SecretRegistry;
  readonly #log: Logger;

  constructor(path: string, secrets: SecretRegistry, log: Logger) {
    this.#file = new RotatingFile(path, { maxBytes: MAX_FILE_BYTES, kept: 1 });
    this.#secrets = secrets;
    this.#log = log;
  }

  /**
   * Reads a worker's output to its end, whatever happens to the file: a full pipe would wedge the worker.
   * @param label put before each line, such as the launch id.
   */
  drain(output: Readable, label: string): void {
    let gathered = "";
    output.setEncoding("utf8");
    output.on("data", (chunk: string) => {
      gathered += chunk;
      const lines = gathered.split("\n");
      gathered = lines.pop() ?? "";
      if (lines.length > 0) this.#write(lines, label);
      if (gathered.length > MAX_GATHERED) {
        this.#write([gathered], label);
        gathered = "";
      }
    });
    output.on("end", () => {
      if (gathered !== "") this.#write([gathered], label);
    });
    output.on("error", (error) => {
      this.#log.debug({ err: error, label }, "a worker's output broke off");
    });
  }

  /** Closes the file. */
  close(): void {
    this.#file.close();
  }

  // Redacted as one text, so that a secret that is spread over lines is seen, and cut afterwards, so that no half of one stays.
  #write(lines: readonly string[], label: string): void {
    const clean = redact(lines.join("\n"), this.#secrets).split("\n");
    const text = clean.map((line) => `${label} ${cutToCodePoints(line, MAX_LINE_CODE_POINTS, CUT_MARK)}\n`).join("");
    try {
      this.#file.append(text);
    } catch (error) {
      this.#log.warn({ err: error }, "worker log cannot be written");
    }
  }
}
