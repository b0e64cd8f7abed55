import { reasonError, type RpcError } from "../../rpc/rpcError.js";

/** The refusal of a message tool that was called where it is not offered. It says that nothing will change it in this turn. */
export function notOffered(reason: "NOT_BOT_CHAT" | "MESSAGING_DISABLED"): RpcError {
  const message =
    reason === "NOT_BOT_CHAT"
      ? "Messages are sent from the agent's Bot Chat only, and this is another session."
      : "Direct messages are turned off for this agent.";
  const hint =
    "Do not try again: no retry will succeed in this session. Go on without the message, and say so if asked.";
  return reasonError(reason, undefined, { message, hint, metadata: { retry: "never" } });
}
