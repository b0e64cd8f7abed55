import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { LIMITS } from "../../base/limits.js";
import { TurnResult } from "../../gen/talaria/types/v1/result.js";

const NAME = /^[A-Za-z0-9_-]{1,200}$/;
const CODE_BYTES = 32;

/** The folder where an execution's worker keeps its result; always directly inside the home's outboxes. */
export function outboxDirectory(outboxesDir: string, executionId: string): string {
  if (!NAME.test(executionId)) throw new Error("an execution id cannot name an outbox");
  return join(outboxesDir, executionId);
}

/** The key that authenticates an execution's outbox, 32 bytes, derived from the home's key. */
export function outboxKey(homeKey: Uint8Array, executionId: string): Buffer {
  return Buffer.from(hkdfSync("sha256", homeKey, Buffer.alloc(0), `talaria outbox ${executionId}`, CODE_BYTES));
}

/** Makes an execution's outbox, private to this user. */
export function makeOutbox(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
}

/** Removes an execution's outbox with what is in it. */
export function removeOutbox(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

/** What an outbox holds. */
export type OutboxContent =
  | { readonly kind: "empty" }
  | { readonly kind: "result"; readonly result: TurnResult }
  /** Something is there that the execution's worker did not write whole. */
  | { readonly kind: "refused" };

/** Reads what a worker left behind: 32 bytes of HMAC-SHA256 over the execution's id, a zero byte and the encoded result after them. */
export function readOutbox(directory: string, key: Uint8Array, executionId: string): OutboxContent {
  const path = join(directory, "result");
  // Whatever else stands in the folder's place, no worker of ours has put it there, and a start must not fail over it.
  if (lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() === false) return { kind: "refused" };
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return { kind: "empty" };
  if (!facts.isFile() || facts.size > LIMITS.messageBytes + CODE_BYTES || facts.size < CODE_BYTES) {
    return { kind: "refused" };
  }
  const bytes = readFileSync(path);
  const content = bytes.subarray(CODE_BYTES);
  const expected = createHmac("sha256", key).update(executionId).update(Buffer.of(0)).update(content).digest();
  if (!timingSafeEqual(expected, bytes.subarray(0, CODE_BYTES))) return { kind: "refused" };
  try {
    return { kind: "result", result: TurnResult.decode(content) };
  } catch {
    return { kind: "refused" };
  }
}
