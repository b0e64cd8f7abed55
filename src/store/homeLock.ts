import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";

import { DatabaseSync } from "@photostructure/sqlite";

import { isSameProcess, readProcess } from "../base/processTable.js";
import { HomeLockedError } from "./homeLockedError.js";
import { toStorageError } from "./toStorageError.js";

const BUSY = 5;

/** Holding a home. The kernel lets go of it when the process ends, however it ends. */
export interface HomeLock {
  /** Lets go; calling it again does nothing. */
  release(): void;
}

/**
 * Takes the home's lock: an exclusive transaction on a database that nothing else uses. Nothing else in this process may
 * open that file, since closing any descriptor of it would drop the lock.
 * @param path the lock database; the holder's process is noted in `<path>.holder`, for messages only.
 * @throws HomeLockedError at once where another gateway holds it; StorageError where the file cannot be used.
 */
export function takeHomeLock(path: string): HomeLock {
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
  const holder = `${path}.holder`;
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    const code = (error as { errcode?: unknown }).errcode;
    if (typeof code === "number" && (code & 0xff) === BUSY) {
      throw new HomeLockedError(path, holderPid(holder), { cause: error });
    }
    throw toStorageError(error) ?? error;
  }
  noteHolder(holder);
  return {
    release() {
      if (!database.isOpen) return;
      rmSync(holder, { force: true });
      database.close();
    },
  };
}

/** The note is for messages only, so a disk without room for it does not keep a gateway from starting. */
function noteHolder(file: string): void {
  try {
    const birth = readProcess(process.pid)?.birthTicks ?? 0n;
    writeFileSync(file, `${String(process.pid)} ${String(birth)}\n`, { mode: 0o600 });
  } catch {
    rmSync(file, { force: true });
  }
}

function holderPid(file: string): number | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
  const [, pid, birth] = /^(\d+) (\d+)\n$/.exec(text) ?? [];
  if (pid === undefined || birth === undefined) return undefined;
  return isSameProcess({ pid: Number(pid), birthTicks: BigInt(birth) }) ? Number(pid) : undefined;
}
