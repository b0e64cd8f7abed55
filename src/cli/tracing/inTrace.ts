import { readFile } from "node:fs/promises";

import { systemClock } from "../../base/clock.js";
import type { TracingConfig } from "../../base/config/gatewayConfig.js";
import { ConfigError } from "../../base/configError.js";
import { homePaths, homeRoot } from "../../base/home.js";
import { systemRandom } from "../../base/random.js";
import { RpcError } from "../../rpc/rpcError.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import { endpointOf, type GatewayClient } from "../gatewayClient.js";
import { traceSettings, type TraceSettings } from "./traceSettings.js";

/**
 * Does a command's work with the gateway. Where tracing is configured for the command, the work is a span, the first of its trace or
 * below the one that the environment names, and each call is one below it; else nothing is loaded and nothing is sent along.
 * @param name of the command, such as `talaria run`
 */
export async function inTrace<T>(
  context: CommandContext,
  name: string,
  work: (gateway: GatewayClient) => Promise<T>,
): Promise<T> {
  const settings = await settingsOf(context);
  if (settings === undefined) return work(await context.gateway());
  const startMs = systemClock.now();
  const gateway = await context.gateway();
  const [{ openCommandTracer }, { tracedGateway }] = await Promise.all([
    import("./openCommandTracer.js"),
    import("./tracedGateway.js"),
  ]);
  const say = (line: string): void => {
    if (context.terminal.errIsTerminal) context.terminal.err(line);
  };
  const { tracer, close } = await openCommandTracer(settings, { clock: systemClock, random: systemRandom, say });
  const { parent } = settings;
  const at = tracer.below(parent);
  const record = (error?: string): void => {
    tracer.record({
      name,
      kind: "internal",
      at,
      parentSpanId: parent?.spanId,
      startMs,
      endMs: Math.max(startMs, systemClock.now()),
      attributes: error === undefined ? {} : { "error.type": error },
      ...(error === undefined ? {} : { error }),
    });
  };
  try {
    const result = await work(tracedGateway(gateway, { tracer, clock: systemClock, parent: at }));
    record();
    return result;
  } catch (caught) {
    record(caught instanceof CliError || caught instanceof RpcError ? caught.reason : "UNKNOWN_ERROR");
    throw caught;
  } finally {
    await close();
  }
}

function settingsOf({ options, terminal }: CommandContext): Promise<TraceSettings | undefined> {
  return traceSettings(terminal.env, async () => {
    const endpoint = endpointOf(options, terminal.env);
    return endpoint.kind === "home" ? tracingOf(endpoint.home ?? homeRoot(terminal.env)) : undefined;
  });
}

/** The schema, which takes time to load, is loaded only where the file speaks of tracing. A file that is wrong is `config check`'s to tell. */
async function tracingOf(home: string): Promise<TracingConfig | undefined> {
  const { configFile } = homePaths(home);
  const text = await readFile(configFile, "utf8").catch(() => "");
  if (!/\btracing\b/.test(text)) return undefined;
  const { loadGatewayConfig } = await import("../../base/config/gatewayConfig.js");
  try {
    return loadGatewayConfig(configFile).tracing;
  } catch (caught) {
    if (caught instanceof ConfigError) return undefined;
    throw caught;
  }
}
