import { cutToCodePoints } from "../base/codePoints.js";
import { redact } from "../base/redaction.js";
import type { SecretRegistry } from "../base/secretRegistry.js";
import type { WorkerError } from "../gen/talaria/owner/v1/owner_service.js";
import type { Reason } from "../rpc/reasons.js";
import { reasonNumber } from "../rpc/reasonNumber.js";
import { RpcError } from "../rpc/rpcError.js";

const MESSAGE_LIMIT = 1_024;

/** Makes the last frame of a worker that cannot go on: the reason and one redacted line, never a stack. */
export function reportError(caught: unknown, secrets: SecretRegistry): WorkerError {
  const reason: Reason = caught instanceof RpcError ? caught.reason : "RUNTIME_FAILED";
  const text = caught instanceof Error ? caught.message : String(caught);
  const line = redact(text, secrets).replaceAll(/\s+/g, " ").trim();
  return {
    reason: reasonNumber(reason),
    message: cutToCodePoints(line === "" ? "The worker failed." : line, MESSAGE_LIMIT, "…"),
  };
}
