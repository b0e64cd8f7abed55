import { Registry } from "prom-client";
import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";

import { systemClock } from "../../src/base/clock.js";
import type { GatewayRooms } from "../../src/gateway/gatewayContext.js";
import { homeMetrics } from "../../src/gateway/metrics/homeMetrics.js";
import { processMetrics } from "../../src/gateway/metrics/processMetrics.js";
import { rpcMetrics } from "../../src/gateway/metrics/rpcMetrics.js";
import { storeMetrics } from "../../src/gateway/metrics/storeMetrics.js";
import { traceMetrics } from "../../src/gateway/metrics/traceMetrics.js";
import { turnMetrics } from "../../src/gateway/metrics/turnMetrics.js";
import type { Reader } from "../../src/store/reader.js";
import type { Writer } from "../../src/store/writer.js";

interface Described {
  readonly name: string;
  readonly help: string;
  readonly type: string;
}

let described: readonly Described[] = [];

beforeAll(async () => {
  const registry = new Registry();
  const clock = systemClock;
  rpcMetrics(registry, clock);
  storeMetrics(registry, { onCommit: () => () => undefined } as unknown as Writer);
  turnMetrics(registry, { onTurnTimes: () => () => undefined });
  homeMetrics(registry, {
    reader: {} as unknown as Reader,
    rooms: {} as unknown as GatewayRooms,
    clock,
    workersMax: 1,
    agentsPaused: () => 0,
  });
  processMetrics(registry, { clock, epoch: 1, loopDelay: { p99Ms: () => 0 } });
  traceMetrics(registry, undefined);
  described = (await registry.getMetricsAsJSON()) as unknown as readonly Described[];
});

test("docs/metrics.md lists every metric with its kind and its help, and no other", () => {
  const rows = readFileSync("docs/metrics.md", "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .map(([, name, kind, , what]) => [name?.replaceAll("`", ""), kind, what]);
  expect(rows).toEqual(described.map(({ name, type, help }) => [name, type, help]));
});

test("the dashboard asks for metrics that exist, and for each of ours", () => {
  const dashboard = JSON.parse(readFileSync("docs/grafana/talaria.json", "utf8")) as {
    readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
  };
  const asked = dashboard.panels
    .flatMap(({ targets }) => targets)
    .flatMap(({ expr }) => expr.match(/\b(?:talaria|rpc_server|process)_[a-z0-9_]+/g) ?? [])
    .map((name) => name.replace(/_(?:bucket|sum|count)$/, ""));
  const known = described.map(({ name }) => name);
  expect(asked.filter((name) => !known.includes(name))).toEqual([]);
  const unshown = known.filter((name) => !asked.includes(name));
  expect(unshown).toEqual([
    "talaria_turns_admitted_total",
    "process_cpu_seconds_total",
    "process_start_time_seconds",
    "talaria_epoch",
  ]);
});
