import { expect, test } from "vitest";

import { dialableAddress, hostOfRemote, splitAddress } from "./peerAddress.js";

test.each([
  ["0.0.0.0:7421", "10.0.0.5", "10.0.0.5:7421"],
  ["[::]:7421", "fd00::5", "[fd00::5]:7421"],
  ["127.0.0.1:7421", "10.0.0.5", "127.0.0.1:7421"],
  ["gateway.example:7421", "10.0.0.5", "gateway.example:7421"],
])("%s, seen from %s, is dialled as %s", (address, host, expected) => {
  expect(dialableAddress(address, host)).toBe(expected);
});

test.each(["", "host", "host:", "host:0", "host:65536", "a b:1", "::1:7421", "x/y:1", "unix:1:2"])(
  "DM102 %j is no address",
  (text) => {
    expect(splitAddress(text)).toBeUndefined();
  },
);

test("a connection's host is read without its port", () => {
  expect(hostOfRemote("::ffff:10.0.0.5:50123")).toBe("10.0.0.5");
  expect(hostOfRemote("fd00::5:50123")).toBe("fd00::5");
});
