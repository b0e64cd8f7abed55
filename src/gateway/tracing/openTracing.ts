import type { Clock } from "../../base/clock.js";
import { ConfigError } from "../../base/configError.js";
import type { GatewayConfig } from "../../base/config/gatewayConfig.js";
import { cutToCodePoints } from "../../base/codePoints.js";
import type { Logger } from "../../base/logger.js";
import type { Random } from "../../base/random.js";
import { VERSION } from "../../base/version.js";
import { within } from "../../base/within.js";
import { isNotInstalled } from "../../rpc/tracing/isNotInstalled.js";
import { passingTracer } from "../../rpc/tracing/passingTracer.js";
import { recordingTracer } from "../../rpc/tracing/recordingTracer.js";
import type { SpanCounts } from "../../rpc/tracing/spanCounts.js";
import type { SpanExport, SpanExportOptions } from "../../rpc/tracing/spanExport.js";
import type { Tracer } from "../../rpc/tracing/tracer.js";

/** What {@link openTracing} needs. */
export interface OpenTracingOptions {
  readonly config: Pick<GatewayConfig, "name" | "tracing">;
  /** The configuration's file, for messages. */
  readonly configFile: string;
  /** Number of this start. */
  readonly epoch: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** The tracing of one gateway. */
export interface Tracing {
  readonly tracer: Tracer;
  /** Undefined where nothing is recorded. */
  readonly counts: (() => SpanCounts) | undefined;
  /** Sends what waits, for a bounded time, and ends. */
  readonly close: () => Promise<void>;
}

/** What needs OpenTelemetry's packages. */
interface SpanExportModule {
  readonly openSpanExport: (options: SpanExportOptions) => SpanExport;
}

/** Loads it. */
export type LoadSpanExport = () => Promise<SpanExportModule>;

/** Longest wait for the last spans at the end of a gateway, milliseconds. */
const LAST_SPANS_MS = 3_000;
/** Shortest time between two lines that say the collector does not take spans, milliseconds. */
const SAY_EVERY_MS = 60_000;
const MESSAGE_CODE_POINTS = 200;

/**
 * Makes a gateway's tracer. OpenTelemetry's packages are loaded only where the configuration turns tracing on.
 * @param load for tests of an installation without them
 * @throws ConfigError where it does and they are not installed.
 */
export async function openTracing(
  options: OpenTracingOptions,
  load: LoadSpanExport = () => import("../../rpc/tracing/spanExport.js"),
): Promise<Tracing> {
  const { config, random, clock, log, epoch } = options;
  const { name, tracing } = config;
  if (tracing === undefined)
    return { tracer: passingTracer(random), counts: undefined, close: () => Promise.resolve() };
  const { openSpanExport } = await loadExport(options.configFile, load);
  let saidAt: number | undefined;
  const onFailure: SpanExportOptions["onFailure"] = (error) => {
    const now = clock.monotonic();
    if (saidAt !== undefined && now - saidAt < SAY_EVERY_MS) return;
    saidAt = now;
    const why = cutToCodePoints(error?.message ?? "", MESSAGE_CODE_POINTS);
    log.warn(
      { collector: new URL(tracing.endpoint).host, why, ...spans.counts() },
      "the collector does not take spans",
    );
  };
  const spans = openSpanExport({
    endpoint: tracing.endpoint,
    version: VERSION,
    resource: {
      "service.name": "talaria-gateway",
      "service.version": VERSION,
      "service.instance.id": `${name}.${String(epoch)}`,
      "talaria.gateway": name,
    },
    onFailure,
  });
  return {
    tracer: recordingTracer({ random, sampleRatio: tracing.sampleRatio, sink: spans.take }),
    counts: spans.counts,
    async close() {
      await within(clock, LAST_SPANS_MS, spans.close());
      log.info({ ...spans.counts() }, "tracing ended");
    },
  };
}

async function loadExport(file: string, load: LoadSpanExport): Promise<SpanExportModule> {
  try {
    return await load();
  } catch (error) {
    if (!isNotInstalled(error)) throw error;
    const problem = "needs the packages of OpenTelemetry, which are not installed";
    const hint = "install talaria without --omit=optional, or remove the key";
    throw new ConfigError({ file, key: "tracing", problem, hint }, { cause: error });
  }
}
