import { expect, test } from "vitest";

import { judgeRefusal } from "./judgeRefusal.js";

const NOW = 1_780_000_000_000;
const error = (message: string, more: object = {}): string => JSON.stringify({ error: { message, ...more } });

test.each<[string, number | undefined, string, string]>([
  ["a wrong key", 401, error("Incorrect API key provided"), "PROVIDER_AUTH"],
  ["a key without the right", 403, error("Your key may not do this"), "PROVIDER_AUTH"],
  ["a region or account without the model", 403, error("The model `x` is not available to you"), "MODEL_UNAVAILABLE"],
  ["no money", 402, error("Insufficient credits"), "PROVIDER_QUOTA"],
  [
    "a quota in the code",
    429,
    error("You exceeded your current quota", { code: "insufficient_quota" }),
    "PROVIDER_QUOTA",
  ],
  ["a quota in the words", 429, error("Your credit balance is too low"), "PROVIDER_QUOTA"],
  ["a rate that is called a quota", 429, error("Quota exceeded for requests per minute"), "PROVIDER_RATE_LIMIT"],
  ["a rate", 429, "", "PROVIDER_RATE_LIMIT"],
  ["an unknown model", 404, error("The model `x` does not exist", { code: "model_not_found" }), "MODEL_UNAVAILABLE"],
  ["an unknown path", 404, "<html>Not Found</html>", "RUNTIME_CONFIG"],
  ["an unknown path in JSON", 404, '{"detail":"Not Found"}', "RUNTIME_CONFIG"],
  ["a wrong method", 405, "", "RUNTIME_CONFIG"],
  ["a long prompt by code", 400, error("too long", { code: "context_length_exceeded" }), "CONTEXT_OVERFLOW"],
  ["a long prompt by words", 400, error("This model's maximum context length is 8192 tokens."), "CONTEXT_OVERFLOW"],
  [
    "a long prompt at a local server",
    400,
    error("the request exceeds the available context size, try increasing it", { type: "exceed_context_size_error" }),
    "CONTEXT_OVERFLOW",
  ],
  ["a body that is too large", 413, "", "CONTEXT_OVERFLOW"],
  ["an invalid model", 400, error("invalid model: x"), "MODEL_UNAVAILABLE"],
  ["an invalid field", 400, error("Unrecognized request argument supplied: foo"), "RUNTIME_FAILED"],
  ["a broken server", 500, error("boom"), "PROVIDER_SERVER"],
  [
    "an overloaded one",
    529,
    '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    "PROVIDER_SERVER",
  ],
  ["a proxy's page", 502, "<html>Bad Gateway</html>", "PROVIDER_SERVER"],
  ["an error in a stream", undefined, error("something broke"), "PROVIDER_SERVER"],
  ["a rate in a stream", undefined, error("Rate limit reached", { code: 429 }), "PROVIDER_RATE_LIMIT"],
  ["an error that is a text", 400, '{"error":"model \\"x\\" not found, try pulling it first"}', "MODEL_UNAVAILABLE"],
  ["an error in a list", 400, '[{"error":{"message":"Your prompt is too long"}}]', "CONTEXT_OVERFLOW"],
])("%s", (_, status, body, reason) => {
  expect(judgeRefusal({ status, headers: {}, body }, NOW).reason).toBe(reason);
});

test("a limit says when it resets; only what may pass soon is tried again", () => {
  const refusal = { status: 429, headers: { "retry-after": "20" }, body: error("slow down") };
  expect(judgeRefusal(refusal, NOW)).toEqual({
    reason: "PROVIDER_RATE_LIMIT",
    message: "The model provider limits the rate of requests (HTTP 429): slow down",
    retryable: true,
    again: true,
    waitMs: 20_000,
    resetsAtMs: NOW + 20_000,
  });
  const quota = { ...refusal, body: error("no quota", { code: "insufficient_quota" }) };
  expect(judgeRefusal(quota, NOW)).toMatchObject({ retryable: false, again: false, resetsAtMs: NOW + 20_000 });
});

test("a page is never shown, and words are bounded", () => {
  expect(judgeRefusal({ status: 502, headers: {}, body: "<html>secret</html>" }, NOW).message).toBe(
    "The model provider failed (HTTP 502).",
  );
  expect(judgeRefusal({ status: 500, headers: {}, body: error("x".repeat(10_000)) }, NOW).message.length).toBeLessThan(
    700,
  );
});
