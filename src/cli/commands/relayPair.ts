import { mkdirSync } from "node:fs";

import { systemClock } from "../../base/clock.js";
import { loadGatewayConfig } from "../../base/config/gatewayConfig.js";
import { systemRandom } from "../../base/random.js";
import { pairConnector } from "../../connector/pairConnector.js";
import { openIdentity } from "../../rpc/tls/identityKey.js";
import { leafSource } from "../../rpc/tls/leafCertificate.js";
import type { CommandContext } from "../commandContext.js";
import { homeOf } from "../homeOf.js";

/** Pairs this machine's connector with the gateway that made the invite, and prints how to connect it. @throws RpcError. */
export async function relayPair(context: CommandContext, code: string, { name }: { name?: string }): Promise<void> {
  const paths = homeOf(context, { here: true });
  const config = loadGatewayConfig(paths.configFile);
  mkdirSync(paths.root, { recursive: true, mode: 0o700 });
  const identity = await openIdentity(paths.root, systemClock.now());
  const paired = await pairConnector({
    code,
    name: name ?? config.name,
    leaves: await leafSource(identity, () => systemClock.now()),
    clock: systemClock,
    random: systemRandom,
  });
  context.print(paired, () =>
    [`Paired as ${paired.name}`, `  talaria relay connect --hub ${paired.hub} --pin ${paired.pin}`].join("\n"),
  );
}
