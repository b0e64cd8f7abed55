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
  const texts =
    outcome.revoked === true
      ? {
          message: `The name ${name} was that of another key, which was revoked.`,
          hint: `If the gateway is the same one with another key, say so with --name ${name}: where its own invite is redeemed, or when it is invited.`,
        }
      : {
          message: `The name ${name} belongs to another key.`,
          hint: "Give another name, or revoke the peer of that name first.",
        };
  return reasonError("PEER_EXISTS", { peer: name }, texts);
}

/** The error for a change of a peer that the configuration names. */
export function configuredPeer(name: string): RpcError {
  return reasonError("FAILED_PRECONDITION", undefined, {
    message: `The peer ${name} is configured; only the configuration changes it.`,
    hint: "Change peers in talaria.yaml and restart the gateway.",
    metadata: { peer: name, configured: "true" },
  });
}
