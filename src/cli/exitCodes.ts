import type { Reason } from "../rpc/reasons.js";
import { reasonEntry } from "../rpc/reasons.js";

/** The command line is wrong (EX_USAGE of sysexits.h). */
export const EXIT_USAGE = 64;

/** A reason that is unknown here, or a failure without one. */
export const EXIT_FAILURE = 1;

/** A turn was stopped by the person who started it: as a shell counts an interrupt. */
export const EXIT_INTERRUPTED = 130;

/** Every exit code with what it means, in rising order; after sysexits.h where that has one. Help texts and docs/cli.md show it. */
export const EXIT_CODES: readonly { readonly code: number; readonly meaning: string }[] = [
  { code: 0, meaning: "done" },
  { code: EXIT_FAILURE, meaning: "failed: a check found something, or the failure has no reason of the registry" },
  { code: EXIT_USAGE, meaning: "the command line or the request is wrong" },
  { code: 66, meaning: "there is nothing of that name" },
  { code: 69, meaning: "nothing was reached: no gateway runs there, or it does not offer this" },
  { code: 70, meaning: "internal error" },
  { code: 73, meaning: "it exists already" },
  { code: 74, meaning: "storage: a full or failing disk, or damaged data" },
  { code: 75, meaning: "a quota, rate or size limit: try later" },
  { code: 76, meaning: "the state does not allow it" },
  { code: 77, meaning: "not permitted" },
  { code: 78, meaning: "credentials or configuration" },
  { code: 124, meaning: "out of time" },
  { code: EXIT_INTERRUPTED, meaning: "stopped or cancelled" },
];

/** {@link EXIT_CODES} for the end of a help text. */
export const EXIT_CODES_HELP = `
Exit codes:
${EXIT_CODES.map(({ code, meaning }) => `  ${String(code).padEnd(4)} ${meaning}`).join("\n")}`;

const BY_REASON: Partial<Record<Reason, number>> = {
  STORAGE_FULL: 74,
  STORAGE_UNAVAILABLE: 74,
  UNAUTHENTICATED: 78,
  TOKEN_INVALID: 78,
  CONFIG_INVALID: 78,
  AGENT_INVALID: 78,
  RUNTIME_CONFIG: 78,
  PROVIDER_AUTH: 78,
  MODEL_UNAVAILABLE: 78,
  SOCKET_PATH_TOO_LONG: 78,
  TRANSPORT_INSECURE: 78,
  PEER_PIN_MISMATCH: 78,
  MESSAGE_TOO_LARGE: EXIT_USAGE,
  METADATA_TOO_LARGE: EXIT_USAGE,
  ATTACHMENT_TOO_LARGE: EXIT_USAGE,
  TURN_STOPPED: EXIT_INTERRUPTED,
};

const BY_CODE: Readonly<Record<string, number>> = {
  CANCELLED: EXIT_INTERRUPTED,
  INVALID_ARGUMENT: EXIT_USAGE,
  OUT_OF_RANGE: EXIT_USAGE,
  UNIMPLEMENTED: 69,
  DEADLINE_EXCEEDED: 124,
  NOT_FOUND: 66,
  ALREADY_EXISTS: 73,
  PERMISSION_DENIED: 77,
  UNAUTHENTICATED: 78,
  RESOURCE_EXHAUSTED: 75,
  FAILED_PRECONDITION: 76,
  INTERNAL: 70,
  DATA_LOSS: 74,
  UNAVAILABLE: 69,
};

/** The exit code of a reason: fixed for a few, else that of its gRPC code. */
export function exitCodeOf(reason: Reason): number {
  return BY_REASON[reason] ?? BY_CODE[reasonEntry(reason).code] ?? EXIT_FAILURE;
}
