import { expect, test } from "vitest";

import { judgeConnectionError } from "./judgeConnectionError.js";

const coded = (code: string, message = code): Error => Object.assign(new Error(message), { code });
const wrapped = (cause: unknown): Error => new TypeError("fetch failed", { cause });

test.each<[string, unknown, string, boolean]>([
  ["nobody listens", wrapped(coded("ECONNREFUSED")), "PROVIDER_UNREACHABLE", false],
  [
    "nobody listens at either address",
    wrapped(new AggregateError([coded("ECONNREFUSED")])),
    "PROVIDER_UNREACHABLE",
    false,
  ],
  ["no such host", wrapped(coded("ENOTFOUND")), "PROVIDER_UNREACHABLE", false],
  ["a certificate of its own", wrapped(coded("DEPTH_ZERO_SELF_SIGNED_CERT")), "PROVIDER_UNREACHABLE", false],
  ["a redirect", wrapped(new Error("unexpected redirect")), "RUNTIME_CONFIG", false],
  ["silence", wrapped(coded("UND_ERR_HEADERS_TIMEOUT")), "PROVIDER_SERVER", false],
  ["a reset", wrapped(coded("ECONNRESET")), "PROVIDER_SERVER", true],
  ["a closed socket", new TypeError("terminated", { cause: coded("UND_ERR_SOCKET") }), "PROVIDER_SERVER", true],
  ["something else", "what", "PROVIDER_SERVER", true],
])("%s", (_, error, reason, again) => {
  const failure = judgeConnectionError(error, "host:1");
  expect(failure).toMatchObject({ reason, again });
  expect(failure.message).toContain("host:1");
});
