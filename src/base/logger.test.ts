import fc from "fast-check";
import { expect, test } from "vitest";

import { createLogger } from "./logger.js";
import { redact } from "./redaction.js";
import { SecretRegistry } from "./secretRegistry.js";

function capture(secrets?: SecretRegistry) {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  return { lines, log: createLogger({ level: "trace", destination, ...(secrets ? { secrets } : {}) }) };
}

test("a registered secret appears in no line, wherever it sits, and lines stay JSON", () => {
  const secret = fc.string({ minLength: 6, maxLength: 30 }).filter((text) => text.trim().length >= 6);
  fc.assert(
    fc.property(secret, (value) => {
      const secrets = new SecretRegistry();
      secrets.add(value);
      const { lines, log } = capture(secrets);
      log
        .child({ inner: value })
        .info({ nested: { list: ["a", `x${value}y`] }, err: new Error(value) }, `got ${value}`);
      expect(lines).toHaveLength(1);
      const line = lines[0] ?? "";
      expect(() => JSON.parse(line) as unknown).not.toThrow();
      expect(line).not.toContain(JSON.stringify(value).slice(1, -1));
    }),
    { numRuns: 300 },
  );
});

test("the longest secret goes first, and a removed one is shown again", () => {
  const secrets = new SecretRegistry();
  secrets.add("abcdef");
  const removeLong = secrets.add("abcdefghi");
  secrets.add("abcdefghi");
  expect(secrets.hide("abcdefghi abcdef")).toBe("[redacted] [redacted]");
  removeLong();
  removeLong();
  expect(secrets.hide("abcdefghi")).toBe("[redacted]");
  secrets.remove("abcdefghi");
  expect(secrets.hide("abcdefghi")).toBe("[redacted]ghi");
  secrets.add("short");
  expect(secrets.hide("short")).toBe("short");
});

test.each([
  ["sk-abcd\u001b[31mEFGH1234 red", "[redacted] red"],
  ["A_KEY=ab\u200bcd\rEF; rest", "A_KEY=[redacted]; rest"],
  ["authorization: Bearer abc.def-123", "authorization: Bearer [redacted]"],
  ["key sk-abcdEFGH1234_x used", "key [redacted] used"],
  ["OPENAI_API_KEY=abc DB_PASS='x y' n=1", "OPENAI_API_KEY=[redacted] DB_PASS=[redacted] n=1"],
  ['GH_TOKEN="a b" MY_SECRET = zzz; rest', "GH_TOKEN=[redacted] MY_SECRET = [redacted]; rest"],
  ["a -----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY----- b", "a [redacted] b"],
  ["cut -----BEGIN EC PRIVATE KEY-----\nMII", "cut [redacted]"],
  ['{"api_key":"a\\"b","tokens":3}', '{"api_key":"[redacted]","tokens":3}'],
  ["the token count is 3; keys=2", "the token count is 3; keys=2"],
])("%j", (text, expected) => {
  expect(redact(text)).toBe(expected);
});

test("patterns reach nested values, lists, and error stacks in a line", () => {
  const { lines, log } = capture();
  log.error(
    { err: new Error("sk-aaaaaaaaaaaa"), deep: [{ pem: "-----BEGIN KEY-----\nx\n-----END KEY-----" }], apiKey: "q" },
    "A_TOKEN=zzzz",
  );
  const line = lines[0] ?? "";
  expect(line).not.toMatch(/sk-aaaa|BEGIN|zzzz|"q"/);
  expect(JSON.parse(line)).toMatchObject({ level: 50, msg: "A_TOKEN=[redacted]", deep: [{ pem: "[redacted]" }] });
});
