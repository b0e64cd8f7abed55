import { expect, test } from "vitest";

import { traceSettings } from "./traceSettings.js";

const nowhere = () => Promise.resolve(undefined);
const home = { endpoint: "http://collector/v1/traces", sampleRatio: 0.5 };
const TRACE = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", sampled: true };
const TRACEPARENT = `00-${TRACE.traceId}-${TRACE.spanId}-01`;

test("without a word of tracing a command takes no part in any", async () => {
  expect(await traceSettings({}, nowhere)).toBeUndefined();
  const empty = { OTEL_EXPORTER_OTLP_ENDPOINT: " ", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "", TRACEPARENT: "none" };
  expect(await traceSettings(empty, nowhere)).toBeUndefined();
});

test("a trace that the command was started in goes on, also where nothing is told", async () => {
  expect(await traceSettings({ TRACEPARENT }, nowhere)).toEqual({
    parent: TRACE,
    collector: undefined,
    service: "talaria",
  });
});

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318/" }, "http://c:4318/v1/traces", 1],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://c/spans", OTEL_EXPORTER_OTLP_ENDPOINT: "x" }, "https://c/spans", 1],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c", OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.25" },
    "http://c/v1/traces",
    0.25,
  ],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://c", OTEL_TRACES_SAMPLER: "parentbased_always_off" }, "http://c/v1/traces", 0],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c", OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "much" },
    "http://c/v1/traces",
    1,
  ],
])("%j", async (env, endpoint, sampleRatio) => {
  const ofHome = () => Promise.reject(new Error("must not be read"));
  expect((await traceSettings(env, ofHome))?.collector).toEqual({ endpoint, sampleRatio });
});

test("without a collector in the environment the home's is told, under the service's name", async () => {
  const settings = await traceSettings({ OTEL_SERVICE_NAME: "deploy" }, () => Promise.resolve(home));
  expect(settings).toEqual({ parent: undefined, collector: home, service: "deploy" });
});

test.each([
  { OTEL_SDK_DISABLED: "TRUE" },
  { OTEL_TRACES_EXPORTER: "none" },
  { OTEL_TRACES_EXPORTER: "console,zipkin" },
])("%j turns it off, the home's too", async (env) => {
  const on = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318", ...env };
  expect(await traceSettings(on, () => Promise.resolve(home))).toBeUndefined();
});

test.each([
  { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4317", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
  { OTEL_EXPORTER_OTLP_ENDPOINT: "c:4318" },
  { OTEL_EXPORTER_OTLP_ENDPOINT: "file:///tmp" },
])("%j is no collector that spans can be sent to", async (env) => {
  expect(await traceSettings(env, nowhere)).toBeUndefined();
});
