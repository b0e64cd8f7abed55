import { createHmac } from "node:crypto";
import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { OutboxGrant } from "../gen/talaria/owner/v1/owner_service.js";
import { TurnResult } from "../gen/talaria/types/v1/result.js";
import { RpcError } from "../rpc/rpcError.js";

/** Name of the one file of an outbox. */
export const OUTBOX_FILE = "result";

/**
 * Keeps a turn's result until the owner has committed it. The file holds 32 bytes of HMAC-SHA256, under the granted key over the
 * execution's id, a zero byte and what follows, then the encoded TurnResult. No secret goes into it.
 */
export interface Outbox {
  /** Writes the result so that a power cut leaves the whole of it or nothing. @throws RpcError RUNTIME_CONFIG for an unsafe folder. */
  keep(result: TurnResult): void;
  /** Removes it; does nothing where there is none. */
  clear(): void;
}

/** Opens the outbox that a bootstrap grants. */
export function openOutbox(grant: OutboxGrant, executionId: string): Outbox {
  const path = join(grant.directory, OUTBOX_FILE);
  return {
    keep(result) {
      checkFolder(grant.directory);
      const bytes = TurnResult.encode(result).finish();
      const temporary = `${path}.partial`;
      rmSync(temporary, { force: true });
      // Exclusive: a file or link that appeared meanwhile is somebody else's.
      const file = openSync(temporary, "wx", 0o600);
      try {
        writeAll(file, Buffer.concat([authenticate(grant.key, executionId, bytes), bytes]));
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(temporary, path);
      syncFolder(grant.directory);
    },
    clear() {
      rmSync(path, { force: true });
    },
  };
}

/** The code that proves that a result comes from the execution's worker. */
export function authenticate(key: Uint8Array, executionId: string, bytes: Uint8Array): Buffer {
  return createHmac("sha256", key).update(executionId, "utf8").update(Buffer.of(0)).update(bytes).digest();
}

function checkFolder(directory: string): void {
  const facts = lstatSync(directory, { throwIfNoEntry: false });
  const own = facts?.uid === process.getuid?.();
  if (facts?.isDirectory() === true && own && (facts.mode & 0o077) === 0) return;
  throw new RpcError("RUNTIME_CONFIG", { message: "The outbox is not a private folder of this user." });
}

function writeAll(file: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
}

function syncFolder(directory: string): void {
  const folder = openSync(directory, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
