import { Histogram, type Registry } from "prom-client";

import type { Writer } from "../../store/writer.js";

/** Times the commits of the store. @returns a function that stops that. */
export function storeMetrics(registry: Registry, writer: Writer): () => void {
  const duration = new Histogram({
    name: "talaria_store_commit_duration_seconds",
    help: "Time of one transaction, its sync included.",
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1],
    registers: [registry],
  });
  const size = new Histogram({
    name: "talaria_store_commit_commands",
    help: "Commands that shared one transaction.",
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    registers: [registry],
  });
  return writer.onCommit(({ commands, durationMs }) => {
    duration.observe(durationMs / 1_000);
    size.observe(commands);
  });
}
