import { reasonError, type RpcError } from "../../rpc/rpcError.js";
import type { PutPeerOutcome } from "../../store/peers/putPeer.js";

/** The error for a peer that could not be stored. */
export function notPaired(outcome: Exclude<PutPeerOutcome, { kind: "stored" }>): RpcError {
  const { kind, name } = outcome;
  if (kind === "keyNamed") {
    return reasonError(
      "PEER_EXISTS",
      { peer: name },
      {
        message: `The key is paired already, as ${name}.`,
        hint: "Leave the name out, or revoke the peer first.",
      },
    );
  }
  return reasonError(
    "PEER_EXISTS",
    { peer: name },
    {
      message: `The name ${name} belongs to another key, or to one that was revoked.`,
      hint: "Give another name, or revoke the peer of that name first.",
    },
  );
}

/** The error for a change of a peer that the configuration names. */
export function configuredPeer(name: string): RpcError {
  return reasonError("FAILED_PRECONDITION", undefined, {
    message: `The peer ${name} is configured; only the configuration changes it.`,
    hint: "Change peers in talaria.yaml and restart the gateway.",
    metadata: { peer: name, configured: "true" },
  });
}
