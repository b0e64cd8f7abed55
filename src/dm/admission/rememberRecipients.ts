import { resolveRecipient, type Recipient } from "./resolveRecipient.js";

/**
 * Makes a {@link resolveRecipient} for messages that come together. Those of one gateway for one target have the same recipient, whoever
 * there has sent them; a refusal is found anew each time. To be used within one step of the loop: agents and grants may change after it.
 */
export function rememberRecipients(): typeof resolveRecipient {
  const known = new Map<string, Recipient>();
  return (message, sender, neighbourhood, options) => {
    const { origin, target } = message;
    if (origin.kind !== "peer") return resolveRecipient(message, sender, neighbourhood, options);
    const way = `${origin.relay ? "relay" : "peer"} ${origin.peer} ${target}`;
    const found = known.get(way) ?? resolveRecipient(message, sender, neighbourhood, options);
    known.set(way, found);
    return found;
  };
}
