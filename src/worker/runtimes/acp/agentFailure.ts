import type { Reason } from "../../../rpc/reasons.js";
import { RpcError } from "../../../rpc/rpcError.js";
import type { RuntimeFailure } from "../runtime.js";

/** Why a turn with an agent failed. */
export class AgentFailure extends Error {
  override readonly name = "AgentFailure";
  readonly reason: Reason;

  constructor(reason: Reason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** The failure of whatever was thrown. @throws the error itself where it is no failure of the agent's. */
export function failureOf(error: unknown): RuntimeFailure {
  if (error instanceof AgentFailure || error instanceof RpcError) {
    return { reason: error.reason, message: error.message, retryable: false };
  }
  throw error;
}
