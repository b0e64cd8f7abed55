import type { Clock } from "../../base/clock.js";
import type { Random } from "../../base/random.js";
import { VERSION } from "../../base/version.js";
import { within } from "../../base/within.js";
import { isNotInstalled } from "../../rpc/tracing/isNotInstalled.js";
import { passingTracer } from "../../rpc/tracing/passingTracer.js";
import { recordingTracer } from "../../rpc/tracing/recordingTracer.js";
import type { Tracer } from "../../rpc/tracing/tracer.js";
import type { TraceSettings } from "./traceSettings.js";

/** What {@link openCommandTracer} needs. */
export interface CommandTracerParts {
  readonly clock: Clock;
  readonly random: Random;
  /** Tells a person why a span is not sent. */
  readonly say: (line: string) => void;
}

/** The tracer of one command. */
export interface CommandTracer {
  readonly tracer: Tracer;
  /** Sends what there is, for {@link LAST_SPANS_MS} at most. Never rejects. */
  readonly close: () => Promise<void>;
}

/** Longest that a command waits for its collector at its end, milliseconds: a person waits with it. */
export const LAST_SPANS_MS = 1_000;

/**
 * Opens a command's tracer. A collector that is down, or packages that are not installed, keep no command from its work: they are told,
 * and a trace that the command is in goes on without a span of its own.
 */
export async function openCommandTracer(
  { collector, service }: TraceSettings,
  { clock, random, say }: CommandTracerParts,
  load = () => import("../../rpc/tracing/spanExport.js"),
): Promise<CommandTracer> {
  const passing = { tracer: passingTracer(random), close: () => Promise.resolve() };
  if (collector === undefined) return passing;
  const { endpoint, sampleRatio } = collector;
  try {
    const { openSpanExport } = await load();
    const spans = openSpanExport({
      endpoint,
      version: VERSION,
      requestMs: LAST_SPANS_MS,
      resource: { "service.name": service, "service.version": VERSION },
      onFailure: (error) => {
        say(`The collector at ${new URL(endpoint).host} does not take spans: ${error?.message ?? "it gave no cause"}`);
      },
    });
    return {
      tracer: recordingTracer({ random, sampleRatio, sink: spans.take }),
      close: () => within(clock, LAST_SPANS_MS, spans.close()),
    };
  } catch (caught) {
    if (!isNotInstalled(caught)) throw caught;
    say("Nothing is told to the collector: the packages of OpenTelemetry are not installed.");
    return passing;
  }
}
