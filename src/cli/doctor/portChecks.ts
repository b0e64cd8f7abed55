import { createServer } from "node:net";

import type { GatewayConfig, ListenAddress } from "../../base/config/gatewayConfig.js";
import { type Finding, ok, problem, skipped } from "./finding.js";
import { codeOf } from "./machineChecks.js";

const METRICS = "metrics";

/**
 * Whether the ports of the configuration can be had.
 * @param listening names of the listeners of the running gateway; undefined where none runs
 */
export async function checkPorts(
  { listeners }: Pick<GatewayConfig, "listeners">,
  listening: readonly string[] | undefined,
): Promise<readonly Finding[]> {
  const wanted: readonly (readonly [name: string, key: string, address: ListenAddress | undefined])[] = [
    ["client-tcp", "listeners.client_tcp", listeners.clientTcp],
    ["peers", "listeners.peers", listeners.peers],
    [METRICS, "listeners.metrics", listeners.metrics],
  ];
  const findings: Finding[] = [];
  for (const [name, key, address] of wanted) {
    if (address === undefined) continue;
    const at = `${address.host}:${String(address.port)}`;
    if (listening !== undefined) {
      // It speaks no gRPC, so that a gateway does not count it among its listeners.
      if (name === METRICS) {
        findings.push(skipped("ports", `${key} is tried only where no gateway runs.`));
        continue;
      }
      findings.push(
        listening.includes(name)
          ? ok("ports", `${key} listens`)
          : problem(
              "ports",
              `${key} is configured, and the running gateway does not listen there.`,
              "Restart the gateway.",
            ),
      );
      continue;
    }
    const refused = await tryBind(address);
    findings.push(
      refused === undefined
        ? ok("ports", `${at} is free (${key})`)
        : problem("ports", `${at} cannot be had: ${refused} (${key}).`, `Stop what listens there, or set ${key}.port.`),
    );
  }
  return findings.length === 0 ? [skipped("ports", "No TCP listener is configured.")] : findings;
}

/** Tries to listen, and lets go at once. @returns why it cannot be done. */
function tryBind({ host, port }: ListenAddress): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => {
      resolve(codeOf(error));
    });
    server.listen({ host, port, exclusive: true }, () => {
      server.close(() => {
        resolve(undefined);
      });
    });
  });
}
