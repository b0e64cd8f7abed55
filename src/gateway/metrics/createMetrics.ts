import { Registry } from "prom-client";

import type { CallObserver } from "../../rpc/harness/callObserver.js";
import type { GatewayContext, GatewayRooms } from "../gatewayContext.js";
import { homeMetrics } from "./homeMetrics.js";
import type { MetricsSource } from "./metricsEndpoint.js";
import { processMetrics } from "./processMetrics.js";
import { rpcMetrics } from "./rpcMetrics.js";
import { storeMetrics } from "./storeMetrics.js";
import { traceMetrics } from "./traceMetrics.js";
import { turnMetrics } from "./turnMetrics.js";

/** Everything that a gateway measures, on one page. */
export interface Metrics extends MetricsSource {
  /** Counts the calls of the listeners that it is given to. */
  readonly observe: CallObserver;
  /** Stops measuring. */
  readonly stop: () => void;
}

/** Measures from here on. */
export function createMetrics(context: GatewayContext, rooms: GatewayRooms): Metrics {
  const { store, clock, config, loopDelay, spanCounts, spending } = context;
  const registry = new Registry();
  const readProcess = processMetrics(registry, { clock, epoch: store.epoch, loopDelay });
  const stopStore = storeMetrics(registry, store.writer);
  const stopTurns = turnMetrics(registry, rooms.owner);
  const readHome = homeMetrics(registry, {
    reader: store.reader,
    rooms,
    clock,
    workersMax: config.workers.max,
    agentsPaused: () => spending.pauses().length,
  });
  const readTraces = traceMetrics(registry, spanCounts);
  return {
    contentType: registry.contentType,
    page() {
      readProcess();
      readHome();
      readTraces();
      return registry.metrics();
    },
    observe: rpcMetrics(registry, clock),
    stop() {
      stopStore();
      stopTurns();
    },
  };
}
