import { Histogram, type Registry } from "prom-client";

import type { OwnerRoom } from "../ports.js";

/** Times the turns by phase. @returns a function that stops that. */
export function turnMetrics(registry: Registry, owner: Pick<OwnerRoom, "onTurnTimes">): () => void {
  const duration = new Histogram({
    name: "talaria_turn_phase_duration_seconds",
    help: "Time of a turn in each phase that it came to: queued, launch, adopt, running, settle.",
    labelNames: ["phase"],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200],
    registers: [registry],
  });
  return owner.onTurnTimes((times) => {
    for (const [phase, ms] of times) duration.observe({ phase }, ms / 1_000);
  });
}
