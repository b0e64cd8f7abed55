import type { TracingConfig } from "../../base/config/gatewayConfig.js";
import { parseTraceparent, type TraceContext } from "../../rpc/traceContext.js";

/** Where a command stands in a trace, and whether it tells a collector of itself. */
export interface TraceSettings {
  /** The span that the command was started in; undefined for none. */
  readonly parent: TraceContext | undefined;
  /** Where its spans go; undefined = nowhere. */
  readonly collector: TracingConfig | undefined;
  /** What the command calls itself to the collector. */
  readonly service: string;
}

/** Name of the command's service where nothing else is said. */
const SERVICE = "talaria";

/**
 * Reads what the standard variables say, else the home's configuration. Undefined where the command takes no part in a trace. Source:
 * OpenTelemetry's specification, environment variables of the SDK and of OTLP exporters; `TRACEPARENT` as its conventions carry a context
 * in the environment. Spans go over HTTP alone: where another protocol or exporter is asked for, none is sent.
 * @param ofHome reads the home's configuration; called only where the variables name no collector
 */
export async function traceSettings(
  env: NodeJS.ProcessEnv,
  ofHome: () => Promise<TracingConfig | undefined>,
): Promise<TraceSettings | undefined> {
  const parent = parseTraceparent(env["TRACEPARENT"] ?? "");
  const collector = isOff(env) ? undefined : (ofEnvironment(env) ?? (await ofHome()));
  if (parent === undefined && collector === undefined) return undefined;
  return { parent, collector, service: set(env["OTEL_SERVICE_NAME"]) ?? SERVICE };
}

function isOff(env: NodeJS.ProcessEnv): boolean {
  const exporters = set(env["OTEL_TRACES_EXPORTER"])?.split(",") ?? ["otlp"];
  const disabled = env["OTEL_SDK_DISABLED"]?.trim().toLowerCase() === "true";
  return disabled || !exporters.some((name) => name.trim() === "otlp");
}

function ofEnvironment(env: NodeJS.ProcessEnv): TracingConfig | undefined {
  const protocol = set(env["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"]) ?? set(env["OTEL_EXPORTER_OTLP_PROTOCOL"]) ?? "http";
  const common = set(env["OTEL_EXPORTER_OTLP_ENDPOINT"]);
  const endpoint =
    set(env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]) ??
    (common === undefined ? undefined : `${common.replace(/\/+$/, "")}/v1/traces`);
  if (endpoint === undefined || !protocol.startsWith("http") || !isHttp(endpoint)) return undefined;
  return { endpoint, sampleRatio: sampleRatio(env) };
}

/** A person's own command is recorded unless a sampler says otherwise. */
function sampleRatio(env: NodeJS.ProcessEnv): number {
  const sampler = set(env["OTEL_TRACES_SAMPLER"])?.replace(/^parentbased_/, "");
  if (sampler === "always_off") return 0;
  const ratio = Number(set(env["OTEL_TRACES_SAMPLER_ARG"]) ?? "1");
  return sampler === "traceidratio" && ratio >= 0 && ratio <= 1 ? ratio : 1;
}

function isHttp(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** An empty variable counts as none. Source: the same specification. */
function set(value: string | undefined): string | undefined {
  const text = value?.trim() ?? "";
  return text === "" ? undefined : text;
}
