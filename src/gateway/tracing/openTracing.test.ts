import { expect, test } from "vitest";

import { silentLogger } from "../../base/logger.js";
import { FakeClock } from "../../base/testing/fakeClock.js";
import { seededRandom } from "../../base/testing/seededRandom.js";
import { createLogger } from "../../base/logger.js";
import { openTracing, type OpenTracingOptions } from "./openTracing.js";
import type { SpanExportOptions } from "../../rpc/tracing/spanExport.js";

const OPTIONS: OpenTracingOptions = {
  config: { name: "north", tracing: { endpoint: "http://user:pass@collector:4318/v1/traces", sampleRatio: 1 } },
  configFile: "/home/talaria.yaml",
  epoch: 7,
  clock: new FakeClock(),
  random: seededRandom(1),
  log: silentLogger(),
};

test("nothing is loaded where tracing is not configured", async () => {
  const load = () => Promise.reject(new Error("must not be loaded"));
  const tracing = await openTracing({ ...OPTIONS, config: { name: "north" } }, load);
  expect(tracing.tracer.enabled).toBe(false);
  expect(tracing.counts).toBeUndefined();
  await tracing.close();
});

test.each(["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"])(
  "packages that are not installed (%s) are asked for",
  async (code) => {
    const missing = Object.assign(new Error("Cannot find package"), { code });
    await expect(openTracing(OPTIONS, () => Promise.reject(missing))).rejects.toMatchObject({
      name: "ConfigError",
      file: "/home/talaria.yaml",
      key: "tracing",
      hint: expect.stringContaining("--omit=optional") as string,
    });
    const broken = new Error("syntax");
    await expect(openTracing(OPTIONS, () => Promise.reject(broken))).rejects.toBe(broken);
  },
);

test("a collector that takes nothing is said once a minute, without what its URL holds of secrets", async () => {
  const lines: string[] = [];
  const log = createLogger({ level: "warn", destination: { write: (line) => void lines.push(line) } });
  const clock = new FakeClock();
  let opened: SpanExportOptions | undefined;
  await openTracing({ ...OPTIONS, clock, log }, () =>
    Promise.resolve({
      openSpanExport(options: SpanExportOptions) {
        opened = options;
        return {
          take: () => undefined,
          counts: () => ({ exported: 0, failed: 3, dropped: 0 }),
          close: () => Promise.resolve(),
        };
      },
    }),
  );
  expect(opened?.resource).toMatchObject({ "service.instance.id": "north.7", "talaria.gateway": "north" });
  for (let second = 0; second < 90; second += 1) {
    opened?.onFailure(new Error("connect ECONNREFUSED"));
    clock.advance(1_000);
  }
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain("ECONNREFUSED");
  expect(lines.join()).not.toContain("pass");
});

test("the end of a gateway waits a bounded time for the last spans", async () => {
  const clock = new FakeClock();
  const tracing = await openTracing({ ...OPTIONS, clock }, () =>
    Promise.resolve({
      openSpanExport: () => ({
        take: () => undefined,
        counts: () => ({ exported: 0, failed: 0, dropped: 0 }),
        close: () => new Promise<void>(() => undefined),
      }),
    }),
  );
  let closed = false;
  const closing = tracing.close().then(() => {
    closed = true;
  });
  await clock.advanceAsync(2_999);
  expect(closed).toBe(false);
  await clock.advanceAsync(1);
  await closing;
  expect(clock.pending).toBe(0);
});
