import { ConfigError } from "../base/configError.js";
import { HomeError } from "../base/homeError.js";
import { StorageError } from "../base/storageError.js";
import type { Reason } from "../rpc/reasons.js";
import { reasonEntry } from "../rpc/reasons.js";
import { RpcError } from "../rpc/rpcError.js";
import { IdentityKeyError } from "../rpc/tls/identityKeyError.js";
import { HomeLockedError } from "../store/homeLockedError.js";
import { HomeTooNewError } from "../store/homeTooNewError.js";

/** Why a gateway did not start, in the terms of the person who started it. */
export interface StartProblem {
  readonly reason: Reason;
  /** What is wrong, with the file, line, key, path or address that is meant. */
  readonly message: string;
  /** What to do. */
  readonly hint: string;
}

/** Explains what `startGateway` has thrown; undefined where it is a fault of the program, whose stack should be shown. */
export function startProblem(caught: unknown): StartProblem | undefined {
  if (caught instanceof ConfigError) return problem("CONFIG_INVALID", caught.message, caught.hint);
  if (caught instanceof HomeError) {
    const tooLong = caught.message.includes("socket path of");
    return problem(tooLong ? "SOCKET_PATH_TOO_LONG" : "FAILED_PRECONDITION", caught.message, caught.hint);
  }
  if (caught instanceof HomeLockedError) return problem("HOME_LOCKED", caught.message);
  if (caught instanceof HomeTooNewError) return problem("HOME_TOO_NEW", caught.message);
  if (caught instanceof IdentityKeyError)
    return problem("CONFIG_INVALID", caught.message, "Follow what the message says.");
  if (caught instanceof StorageError) {
    return problem(caught.kind === "full" ? "STORAGE_FULL" : "STORAGE_UNAVAILABLE", caught.message);
  }
  if (caught instanceof RpcError && caught.reason !== "INTERNAL")
    return problem(caught.reason, caught.message, caught.hint);
  const code = caught instanceof Error ? (caught as NodeJS.ErrnoException).code : undefined;
  if (caught instanceof Error && (code === "EACCES" || code === "EPERM" || code === "EROFS" || code === "ENOSPC")) {
    return problem(code === "ENOSPC" ? "STORAGE_FULL" : "STORAGE_UNAVAILABLE", caught.message);
  }
  return undefined;
}

function problem(reason: Reason, message: string, hint?: string): StartProblem {
  // Some errors end with their hint in parentheses, for those who see the message alone.
  const alone = hint === undefined ? message : message.replace(` (${hint})`, "");
  return { reason, message: alone, hint: hint ?? reasonEntry(reason).hint };
}
