import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { loadGatewayConfig, type TracingConfig } from "./gatewayConfig.js";

function tracingOf(yaml: string): TracingConfig | undefined {
  const folder = mkdtempSync(join(tmpdir(), "tc-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const file = join(folder, "talaria.yaml");
  writeFileSync(file, yaml);
  return loadGatewayConfig(file).tracing;
}

test("tracing is off until it is written down, and then goes to a collector on this machine", () => {
  expect(tracingOf("name: north\n")).toBeUndefined();
  expect(tracingOf("tracing: {}\n")).toEqual({ endpoint: "http://127.0.0.1:4318/v1/traces", sampleRatio: 1 });
  expect(tracingOf("tracing: { endpoint: 'https://collector/v1/traces', sample_ratio: 0.1 }\n")).toEqual({
    endpoint: "https://collector/v1/traces",
    sampleRatio: 0.1,
  });
});

test.each([
  ["tracing: { endpoint: 'collector:4317' }", "tracing.endpoint"],
  ["tracing: { endpoint: 'ftp://collector/' }", "tracing.endpoint"],
  ["tracing: { sample_ratio: 1.5 }", "tracing.sample_ratio"],
  ["tracing: { sample_rate: 1 }", "tracing.sample_rate"],
])("%s is refused, with its key", (yaml, key) => {
  expect(() => tracingOf(yaml)).toThrow(key);
});
