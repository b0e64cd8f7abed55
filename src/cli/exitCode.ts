import type { Reason } from "../rpc/reasons.js";
import { reasonEntry } from "../rpc/reasons.js";

/** The command line is wrong (EX_USAGE of sysexits.h). */
export const EXIT_USAGE = 64;

/** A reason that is unknown here, or a failure without one. */
export const EXIT_FAILURE = 1;

/** A turn was stopped by the person who started it: as a shell counts an interrupt. */
export const EXIT_INTERRUPTED = 130;

/** What the codes mean, for help texts. */
export const EXIT_CODES_HELP = `
Exit codes: 0 done; 1 failed; 64 wrong command line or request; 66 not found; 69 nothing reached; 70 internal error;
73 exists already; 74 storage; 75 a quota or limit, try later; 76 the state does not allow it; 77 not permitted;
78 credentials or configuration; 124 out of time; 130 interrupted.`;

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
  MESSAGE_TOO_LARGE: EXIT_USAGE,
  METADATA_TOO_LARGE: EXIT_USAGE,
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

/** The exit code of a reason: fixed for a few, else that of its gRPC code, after sysexits.h. */
export function exitCodeOf(reason: Reason): number {
  return BY_REASON[reason] ?? BY_CODE[reasonEntry(reason).code] ?? EXIT_FAILURE;
}
