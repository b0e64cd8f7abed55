import { mkdirSync } from "node:fs";

import { systemClock } from "../../base/clock.js";
import { openIdentity } from "../../rpc/tls/identityKey.js";
import type { CommandContext } from "../commandContext.js";
import { homeOf } from "../homeOf.js";

/** Prints the pin of the home's identity key, which is made if there is none: what a peer's configuration needs. */
export async function pin(context: CommandContext): Promise<void> {
  const { root } = homeOf(context);
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const identity = await openIdentity(root, systemClock.now());
  // A pin that was shown must not be lost with its key unnoticed: the certificate beside it tells.
  await identity.certificate();
  context.print({ pin: identity.pin }, () => identity.pin);
}
