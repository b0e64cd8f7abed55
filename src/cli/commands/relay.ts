import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { systemClock } from "../../base/clock.js";
import { loadGatewayConfig, type GatewayConfig } from "../../base/config/gatewayConfig.js";
import { createLogger } from "../../base/logger.js";
import { startConnector } from "../../connector/connector.js";
import { openIdentity } from "../../rpc/tls/identityKey.js";
import { leafSource } from "../../rpc/tls/leafCertificate.js";
import { parsePin } from "../../rpc/tls/pin.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import { EXIT_INTERRUPTED } from "../exitCodes.js";
import { homeOf } from "../homeOf.js";

/** Where the connector goes to. */
export interface RelayConnectOptions {
  /** `host:port` of the peer listener of the gateway that relays. */
  readonly hub: string;
  /** Pin of its key. */
  readonly pin: string;
}

/** Where the gateway of a home and its connector find one another. */
export interface RelayPlaces {
  /** What this machine's gateway calls the gateway that relays. */
  readonly hubName: string;
  /** `host:port` of this machine's gateway. */
  readonly localAddress: string;
  /** Where its connector listens for it. */
  readonly listen: { readonly host: string; readonly port: number };
}

const HUB = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:[\]]+):[0-9]{1,5}$/;

/**
 * Connects this machine to a gateway that relays, beside the home's own gateway, until SIGTERM or SIGINT; a second signal ends it
 * at once. It never gives up while the other side is away.
 * @throws CliError where the configuration does not name the gateway that relays, or another connector took over
 */
export async function relayConnect(context: CommandContext, { hub, pin: pinText }: RelayConnectOptions): Promise<void> {
  const pin = parsePin(pinText);
  if (pin === undefined) {
    throw new CliError("INVALID_FIELD", "The pin is none.", "Copy it from talaria pin on the gateway that relays.");
  }
  if (!HUB.test(hub))
    throw new CliError("INVALID_FIELD", "The hub must be host:port.", "Example: --hub example.org:7421");
  const paths = homeOf(context, { here: true });
  const config = loadGatewayConfig(paths.configFile);
  mkdirSync(paths.root, { recursive: true, mode: 0o700 });
  const identity = await openIdentity(paths.root, systemClock.now());
  const { hubName, localAddress, listen } = relayPlaces(config, identity.pin);
  const connector = await startConnector({
    hub: { address: hub, pin },
    localAddress,
    listen,
    leaves: await leafSource(identity, () => systemClock.now()),
    placeFile: join(paths.root, "relay", `${hubName}.json`),
    log: createLogger({ level: config.logLevel }),
  });
  let onSignal = (): void => {
    onSignal = () => {
      process.exit(EXIT_INTERRUPTED);
    };
    void connector.stop();
  };
  const signal = (): void => {
    onSignal();
  };
  process.on("SIGTERM", signal).on("SIGINT", signal);
  try {
    context.print({ relaying: hub, as: identity.pin, hub: hubName, address: connector.address }, () =>
      [`Relaying ${hubName} at ${hub}`, `  local gateway ${localAddress}`, `  listening at  ${connector.address}`].join(
        "\n",
      ),
    );
    const why = await connector.ended;
    if (why !== undefined) throw new CliError(why.reason, why.message, why.hint);
  } finally {
    process.removeListener("SIGTERM", signal).removeListener("SIGINT", signal);
  }
}

/**
 * Finds in a home's configuration what a connector needs: the peer that bears the home's own pin stands for the gateway that
 * relays, at the address where the connector listens.
 * @throws CliError with the lines that are missing
 */
export function relayPlaces(config: Pick<GatewayConfig, "peers" | "listeners">, ownPin: string): RelayPlaces {
  const [hubName, peer] = Object.entries(config.peers).find(([, { pin }]) => pin === ownPin) ?? [];
  const own = config.listeners.peers;
  if (hubName === undefined || peer === undefined || peer.connector === true || own === undefined || own.port === 0) {
    const lines = [
      "listeners:",
      "  peers: { host: 127.0.0.1, port: 7421 }",
      "peers:",
      `  hub: { address: "127.0.0.1:7422", pin: "${ownPin}" }`,
    ];
    throw new CliError(
      "CONFIG_INVALID",
      "talaria.yaml does not name the gateway that relays.",
      `Add these lines (hub is its name here, 7422 any free port), and restart the gateway:\n${lines.join("\n")}`,
    );
  }
  const at = peer.address.lastIndexOf(":");
  const host = peer.address.slice(0, at).replace(/^\[|\]$/g, "");
  const everywhere = own.host === "0.0.0.0" || own.host === "::";
  const localHost = everywhere ? "127.0.0.1" : own.host.includes(":") ? `[${own.host}]` : own.host;
  return {
    hubName,
    localAddress: `${localHost}:${String(own.port)}`,
    listen: { host, port: Number(peer.address.slice(at + 1)) },
  };
}
