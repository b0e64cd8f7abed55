import { expect, test } from "vitest";

import { failureReason } from "./failureReason.js";
import type { Reason } from "./reasons.js";

test.each<[string, Reason]>([
  ["Error code: 429 - {'error': {'message': 'Rate limit reached'}}", "PROVIDER_RATE_LIMIT"],
  ["HTTP/1.1 503 from upstream", "PROVIDER_SERVER"],
  ["status=500", "PROVIDER_SERVER"],
  ["529 overloaded_error: Overloaded", "PROVIDER_SERVER"],
  ["This model's maximum context length is 8192 tokens", "CONTEXT_OVERFLOW"],
  ["prompt is too long: 210000 tokens > 200000 maximum", "CONTEXT_OVERFLOW"],
  ["HTTP 401 Unauthorized", "PROVIDER_AUTH"],
  ["Incorrect API key provided: sk-***", "PROVIDER_AUTH"],
  ["You exceeded your current quota, please check your plan", "PROVIDER_QUOTA"],
  ["status 402", "PROVIDER_QUOTA"],
  ["The model `gpt-x` does not exist or you do not have access to it", "MODEL_UNAVAILABLE"],
  ["No provider configured", "RUNTIME_CONFIG"],
])("DM075 the class of %j is %s", (text, reason) => {
  expect(failureReason("RUNTIME_FAILED", text)).toBe(reason);
  expect(failureReason("WORKER_REPORTED_ERROR", text)).toBe(reason);
});

test.each([
  ["a refused key over a quota", "HTTP 401: check your quota", "PROVIDER_AUTH"],
  ["a quota over a rate", "429 Too Many Requests: insufficient_quota", "PROVIDER_QUOTA"],
] as const)("DM079 %s", (_, text, reason) => {
  expect(failureReason("RUNTIME_FAILED", text)).toBe(reason);
});

test.each([
  "",
  "nonsense",
  "wrote 429 lines",
  "port 503 is in use",
  "the load balancer and 500 others",
  "EACCES: permission denied, open 'x'",
])("DM079 %j names no class, so that the reason stays", (text) => {
  expect(failureReason("RUNTIME_FAILED", text)).toBe("RUNTIME_FAILED");
});

test("DM079 a reason that names a class outweighs every text", () => {
  expect(failureReason("PROVIDER_AUTH", "HTTP 503")).toBe("PROVIDER_AUTH");
  expect(failureReason("TURN_LIMIT", "rate limit")).toBe("TURN_LIMIT");
});

test("only the head of a text is looked at, in time that its length does not multiply", () => {
  expect(failureReason("RUNTIME_FAILED", `${" model".repeat(100_000)} HTTP 503`)).toBe("RUNTIME_FAILED");
});
