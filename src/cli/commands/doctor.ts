import { resolve } from "node:path";

import { systemClock } from "../../base/clock.js";
import { clientTokensPath } from "../../base/clientTokens.js";
import { loadGatewayConfig, type GatewayConfig } from "../../base/config/gatewayConfig.js";
import { ConfigError } from "../../base/configError.js";
import { homePaths, homeRoot } from "../../base/home.js";
import { AdminServiceService } from "../../gen/talaria/gateway/v1/admin_service.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import { homeProblems } from "../config/homeProblems.js";
import { checkAgents, checkEndpoints } from "../doctor/agentChecks.js";
import { type Finding, type FindingLevel, problem, skipped } from "../doctor/finding.js";
import { checkPeers, checkStatus } from "../doctor/gatewayChecks.js";
import { checkCertificates, checkHome, checkSockets, checkTokens } from "../doctor/homeChecks.js";
import { checkClock, checkDisk, checkNode } from "../doctor/machineChecks.js";
import { checkPorts } from "../doctor/portChecks.js";
import { EXIT_FAILURE } from "../exitCodes.js";
import { endpointOf } from "../gatewayClient.js";
import { visible } from "../render/visible.js";
import type { Style } from "../terminal.js";

/**
 * Looks at everything that a gateway of this home needs, whether or not it runs, and says how to fix what is wrong. Of a gateway at an
 * address it looks at what that says of itself.
 * @returns the exit code where there is a problem; warnings end with 0
 */
export async function doctor(
  context: CommandContext,
  { offline = false }: { readonly offline?: boolean },
): Promise<number | undefined> {
  const findings = await examine(context, offline);
  if (context.json) context.print(findings, () => "");
  else for (const finding of findings) context.terminal.out(`${line(context, finding)}\n`);
  return findings.some(({ level }) => level === "problem") ? EXIT_FAILURE : undefined;
}

async function examine(context: CommandContext, offline: boolean): Promise<readonly Finding[]> {
  const { env } = context.terminal;
  const endpoint = endpointOf(context.options, env);
  if (endpoint.kind === "address") return [checkNode(process.versions.node), ...(await findGateway(context)).findings];
  const root = endpoint.home ?? homeRoot(env);
  const wrong = homeProblems(homePaths(root));
  const config = wrong.gateway.length === 0 ? loadGatewayConfig(homePaths(root).configFile) : undefined;
  const paths = homePaths(root, config?.runDir);
  const running = await findGateway(context);
  const nowMs = systemClock.now();
  return [
    checkNode(process.versions.node),
    ...checkHome(paths, process.getuid?.()),
    checkSockets(paths),
    await checkDisk(root),
    checkClock(paths, nowMs),
    ...[...wrong.gateway, ...wrong.agents].map((error) =>
      problem(
        "configuration",
        error.message,
        "Mend it there, and look again with: talaria config check. docs/configuration.md has every key.",
      ),
    ),
    ...(config === undefined ? [] : await checkPorts(config, running.listening)),
    ...checkCertificates(paths, config === undefined ? [] : certificateFiles(config, paths.root), nowMs),
    ...checkTokens(clientTokensPath(paths.root, config?.clientTokensFile)),
    ...checkAgents(wrong.usable, env),
    ...(offline ? [skipped("endpoints", "Not tried.")] : await checkEndpoints(wrong.usable, env)),
    ...running.findings,
  ];
}

/** Certificates that the configuration names. */
function certificateFiles({ listeners }: GatewayConfig, root: string): readonly string[] {
  const cert = listeners.clientTcp?.tls?.cert;
  return cert === undefined ? [] : [resolve(root, cert)];
}

interface Running {
  /** Names of the gateway's listeners; undefined where none runs. */
  readonly listening: readonly string[] | undefined;
  readonly findings: readonly Finding[];
}

async function findGateway(context: CommandContext): Promise<Running> {
  try {
    const gateway = await context.gateway();
    const status = await gateway.call(AdminServiceService.getStatus, {});
    const findings = [...checkStatus(status), ...(await checkPeers(gateway, status.info))];
    return { listening: status.listeners.map(({ name }) => name), findings };
  } catch (caught) {
    if (caught instanceof CliError && caught.reason === "UNAVAILABLE") {
      const none = skipped("gateway", `${caught.message} ${caught.hint}`);
      return { listening: undefined, findings: [none, skipped("peers", "Only a running gateway knows.")] };
    }
    // The configuration is looked at by itself.
    if (caught instanceof ConfigError) return { listening: undefined, findings: [] };
    throw caught;
  }
}

const MARKS: Readonly<Record<FindingLevel, readonly [text: string, styles: readonly Style[]]>> = {
  ok: ["ok", ["green"]],
  skipped: ["-", ["dim"]],
  warning: ["warning", ["yellow"]],
  problem: ["PROBLEM", ["bold", "red"]],
};

/** A screen with fewer columns is narrow. */
const NARROW = 60;

function line({ terminal }: CommandContext, { check, level, message, fix }: Finding): string {
  const [text, styles] = MARKS[level];
  const mark = terminal.paint("out", styles, text.padEnd(7));
  // On a narrow screen a line of its own leaves room for what was found.
  const named = (terminal.columns ?? NARROW) < NARROW ? `${check}\n${" ".repeat(9)}` : `${check.padEnd(13)}  `;
  return `${mark}  ${named}${visible(message)}${fix === "" ? "" : `\n${" ".repeat(9)}fix: ${visible(fix)}`}`;
}
