import { Counter, Gauge, type Registry } from "prom-client";

import type { Clock } from "../../base/clock.js";
import type { LoopDelay } from "../admin/loopDelay.js";

/** What {@link processMetrics} shows besides what Node says of the process. */
export interface ProcessMetricsParts {
  readonly clock: Clock;
  /** Number of this start of the home. */
  readonly epoch: number;
  readonly loopDelay: Pick<LoopDelay, "p99Ms">;
}

/**
 * Registers what the gateway's own process uses: how late its loop runs, its memory and its processor time.
 * @returns a function that reads the values; call it before each scrape.
 */
export function processMetrics(registry: Registry, { clock, epoch, loopDelay }: ProcessMetricsParts): () => void {
  const registers = [registry];
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const delay = gauge(
    "talaria_loop_delay_p99_seconds",
    "How late the event loop runs, 99th percentile of the last minute or two.",
  );
  const memory = gauge("process_resident_memory_bytes", "Resident memory of the gateway, without its workers.");
  const cpu = new Counter({
    name: "process_cpu_seconds_total",
    help: "Processor time of the gateway, without its workers.",
    registers,
  });
  const started = gauge("process_start_time_seconds", "When the gateway started, seconds since the Unix epoch.");
  gauge("talaria_epoch", "Number of this start of the home.").set(epoch);
  started.set(clock.now() / 1_000);
  return () => {
    delay.set(loopDelay.p99Ms() / 1_000);
    memory.set(process.memoryUsage.rss());
    const { user, system } = process.cpuUsage();
    cpu.reset();
    cpu.inc((user + system) / 1e6);
  };
}
