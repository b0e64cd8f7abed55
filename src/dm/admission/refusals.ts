import type { RpcError } from "../../rpc/rpcError.js";
import { reasonError } from "../../rpc/rpcError.js";
import type { Admission } from "../../store/deliveries/admitDelivery.js";
import { workingForms } from "../addresses/addressForms.js";
import type { Neighbourhood } from "../addresses/resolveTarget.js";
import { displayText } from "./displayText.js";

/** Forms that an error lists of each kind, so that it stays small. */
const LISTED = 10;
/** What a sender should wait when a queue is full and nobody knows when it will be shorter. */
const QUOTA_RETRY_MS = 5_000;

/** The error for a target that means nobody; it lists forms that work for the sender. */
export function unknownTarget(target: string, neighbourhood: Neighbourhood, sender?: string): RpcError {
  return reasonError("UNKNOWN_TARGET", { target: shown(target) }, { metadata: listed(neighbourhood, sender) });
}

/** The error for a peer that is not paired. */
export function unknownPeer(peer: string, neighbourhood: Neighbourhood, sender?: string): RpcError {
  const metadata = { peer: shown(peer), ...listed(neighbourhood, sender) };
  return reasonError("UNKNOWN_PEER", undefined, { metadata });
}

/** The error for a peer that has no address: it can come here, and cannot be sent to. */
export function undiallablePeer(peer: string): RpcError {
  return reasonError("TARGET_OFFLINE", undefined, {
    message: `The peer ${peer} cannot be dialled.`,
    hint: "Give it an address with talaria peers update.",
    metadata: { peer },
  });
}

/** The error for a target that means several; it lists the form of each. */
export function ambiguousTarget(target: string, forms: readonly string[]): RpcError {
  const list = forms.slice(0, LISTED).join(", ");
  return reasonError(
    "AMBIGUOUS_TARGET",
    { target: shown(target) },
    {
      message: `The address "${shown(target)}" means more than one recipient: ${list}.`,
      hint: "Write one of the listed forms.",
      metadata: { forms: list },
    },
  );
}

/** The error for what the store refused. */
export function storeRefusal(admission: Extract<Admission, { kind: "refused" }>): RpcError {
  switch (admission.reason) {
    case "KEY_CONFLICT":
      return reasonError("KEY_CONFLICT");
    case "LOOP_GUARD":
      return reasonError("LOOP_GUARD", undefined, { retryAfterMs: admission.retryAfterMs ?? QUOTA_RETRY_MS });
    case "SENDER_QUOTA":
    case "RECIPIENT_QUOTA":
    case "HOME_QUOTA":
      return reasonError(admission.reason, undefined, { retryAfterMs: QUOTA_RETRY_MS });
  }
}

function listed(neighbourhood: Neighbourhood, sender: string | undefined): Record<string, string> {
  const { agents, peers, relays } = workingForms(neighbourhood, LISTED, sender);
  const behind = relays.length === 0 ? {} : { relays: relays.join(", ") };
  return { agents: agents.join(", "), peers: peers.join(", "), ...behind };
}

function shown(text: string): string {
  return displayText(text, 80);
}
