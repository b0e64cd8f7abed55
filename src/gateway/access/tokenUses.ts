import { readFileSync, renameSync, writeFileSync } from "node:fs";

import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";

/** A token's use is written at most once in this time, in milliseconds. */
const WRITE_INTERVAL_MS = 60_000;

/** When tokens were last used. The gateway alone writes it, in a file of its own, so that it never races with a change of tokens. */
export interface TokenUses {
  /** Notes that a token is used. */
  note(name: string): void;
  /** Writes what is not written yet. */
  flush(): void;
}

/** Keeps {@link TokenUses}. A file that cannot be written costs the notes and nothing else. */
export function createTokenUses(file: string, clock: Clock, log: Logger): TokenUses {
  const uses = readUses(file);
  let dirty = false;
  let writtenAt = -Infinity;
  const write = (): void => {
    writtenAt = clock.monotonic();
    dirty = false;
    try {
      writeFileSync(`${file}.next`, `${JSON.stringify(Object.fromEntries(uses), undefined, 2)}\n`, { mode: 0o600 });
      renameSync(`${file}.next`, file);
    } catch (error) {
      log.warn({ err: error }, "the last use of client tokens could not be written");
    }
  };
  return {
    note(name) {
      uses.set(name, new Date(clock.now()).toISOString());
      dirty = true;
      if (clock.monotonic() - writtenAt >= WRITE_INTERVAL_MS) write();
    },
    flush() {
      if (dirty) write();
    },
  };
}

function readUses(file: string): Map<string, string> {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(file, "utf8")) as Record<string, string>));
  } catch {
    return new Map();
  }
}
