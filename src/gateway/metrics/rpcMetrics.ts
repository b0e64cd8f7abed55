import { Histogram, type Registry } from "prom-client";

import type { Clock } from "../../base/clock.js";
import type { CallObserver } from "../../rpc/harness/callObserver.js";
import { reasonEntry } from "../../rpc/reasons.js";

/**
 * Counts and times the calls of every listener, under OpenTelemetry's name and attributes for gRPC servers
 * (`rpc.server.call.duration`). A method is one of those served, so that a stranger cannot make series.
 */
export function rpcMetrics(registry: Registry, clock: Clock): CallObserver {
  const duration = new Histogram({
    name: "rpc_server_call_duration_seconds",
    help: "Time from a call's headers to its status; a stream counts once, when it ends.",
    labelNames: ["rpc_system_name", "rpc_method", "rpc_response_status_code"],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 3_600],
    registers: [registry],
  });
  return ({ method }) => {
    const startedAt = clock.monotonic();
    return (error) => {
      const labels = {
        rpc_system_name: "grpc",
        rpc_method: method.slice(1),
        rpc_response_status_code: error === undefined ? "OK" : reasonEntry(error.reason).code,
      };
      duration.observe(labels, (clock.monotonic() - startedAt) / 1_000);
    };
  };
}
