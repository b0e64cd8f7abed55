import type { Clock } from "../../../base/clock.js";
import { AgentFailure } from "./agentFailure.js";
import type { AgentProcess } from "./agentProcess.js";

/** JSON-RPC code of an agent that wants its user to sign in. Source: the Agent Client Protocol. */
const AUTH_REQUIRED = -32_000;
/** How long is waited for the end of an agent whose conversation has broken off, milliseconds. */
const END_MS = 500;
/** Longest detail that is told, characters. */
const DETAIL = 400;

/** An error of the protocol's library. */
export interface ProtocolError extends Error {
  readonly code: number;
  readonly data?: unknown;
}

/**
 * Says why a conversation with an agent failed: what its output breaks, how it has ended, what it answered.
 * @param isProtocolError whether an error is an answer of the agent's
 * @param isOver whether the conversation has ended
 */
export async function explainFailure(
  error: unknown,
  agent: Pick<AgentProcess, "fault" | "ended" | "lastWords">,
  clock: Clock,
  isProtocolError: (error: unknown) => error is ProtocolError,
  isOver: () => boolean,
): Promise<unknown> {
  const fault = agent.fault();
  if (fault !== undefined) return new AgentFailure("RUNTIME_FAILED", `The agent breaks its protocol: ${fault}.`);
  if (isProtocolError(error)) {
    if (error.code === AUTH_REQUIRED) {
      return new AgentFailure(
        "PROVIDER_AUTH",
        `The agent wants its user to sign in: ${error.message}${detailOf(error)}`,
      );
    }
    return new AgentFailure("RUNTIME_FAILED", `The agent failed: ${error.message}${detailOf(error)}`);
  }
  const how = await endWithin(agent.ended, clock);
  if (how === undefined) {
    if (error instanceof AgentFailure || !isOver()) return error;
    return new AgentFailure("RUNTIME_FAILED", "The agent ended its conversation in the middle of its turn.");
  }
  const words = agent.lastWords();
  return new AgentFailure("RUNTIME_FAILED", `The agent ${how}${words === "" ? "." : `: ${words}`}`);
}

function detailOf({ data }: ProtocolError): string {
  if (data === undefined || data === null) return "";
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return ` (${text.slice(0, DETAIL)})`;
}

async function endWithin(ended: Promise<string>, clock: Clock): Promise<string | undefined> {
  let cancel = (): void => undefined;
  const late = new Promise<undefined>((resolve) => {
    cancel = clock.after(END_MS, () => {
      resolve(undefined);
    });
  });
  try {
    return await Promise.race([ended, late]);
  } finally {
    cancel();
  }
}
