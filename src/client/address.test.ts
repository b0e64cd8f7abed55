import { expect, test } from "vitest";

import { isExposed, parseAddress } from "./address.js";

test.each([
  ["unix:/run/g.sock", { kind: "unix", path: "/run/g.sock", target: "unix:/run/g.sock" }],
  ["unix:///run/g.sock", { kind: "unix", path: "/run/g.sock", target: "unix:/run/g.sock" }],
  ["office:7420", { kind: "tcp", host: "office", port: 7420, tls: false, target: "office:7420" }],
  ["tls:[::1]:7420", { kind: "tcp", host: "[::1]", port: 7420, tls: true, target: "[::1]:7420" }],
])("%s is an address", (text, expected) => {
  expect(parseAddress(text)).toEqual(expected);
});

test.each(["", "unix:", "office", "office:", "office:70000", "http://office:80", "::1:7420"])("%s is none", (text) => {
  expect(() => parseAddress(text)).toThrow(expect.objectContaining({ reason: "INVALID_FIELD" }) as Error);
});

test.each([
  ["127.0.0.1:7420", false],
  ["localhost:7420", false],
  ["[::1]:7420", false],
  ["office:7420", true],
  ["127.example.org:7420", true],
  ["unix:/run/g.sock", false],
])("a token sent to %s without TLS is exposed: %s", (text, expected) => {
  expect(isExposed(parseAddress(text), false)).toBe(expected);
  expect(isExposed(parseAddress(text), true)).toBe(false);
});
