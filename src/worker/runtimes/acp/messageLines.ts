import { Transform } from "node:stream";

import { BoundedLines } from "../../processes/boundedLines.js";

/** Lines of an agent's output that may be messages. */
export interface MessageLines {
  /** Takes the output, gives whole lines that begin like a message. */
  readonly stream: Transform;
  /** What is wrong with the output; undefined for nothing. */
  readonly fault: () => string | undefined;
}

/** Longest message, bytes. */
const MESSAGE_BYTES = 16 * 1_048_576;
/** Most lines that are no message before the program is given up: some print a greeting. */
const STRANGE_LINES = 100;
const BRACE = 0x7b;

/**
 * Splits an agent's output into lines and drops those that are no message. Output without an end of line, or of nothing but strange
 * lines, fails the stream.
 * @param behind resolves when more may be read, rejects with what is wrong where nothing more may be
 */
export function createMessageLines(behind: () => Promise<void>): MessageLines {
  const lines = new BoundedLines(MESSAGE_BYTES);
  let strange = 0;
  let fault: string | undefined;
  const fail = (why: string): Error => {
    fault = why;
    return new Error(why);
  };
  const take = (stream: Transform, chunk: Buffer): Error | undefined => {
    for (const line of lines.take(chunk)) {
      const first = line.find((byte) => byte > 0x20);
      if (first === BRACE) stream.push(line);
      else if (first !== undefined) strange += 1;
      if (strange > STRANGE_LINES) return fail("it writes lines that are no messages of the Agent Client Protocol");
    }
    if (lines.tooLong) return fail("it writes a line of more than 16 MiB");
    return undefined;
  };
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      behind().then(
        () => {
          done(take(stream, chunk));
        },
        (error: unknown) => {
          done(fail(error instanceof Error ? error.message : String(error)));
        },
      );
    },
  });
  return { stream, fault: () => fault };
}
