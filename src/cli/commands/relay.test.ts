import { expect, test } from "vitest";

import type { GatewayConfig } from "../../base/config/gatewayConfig.js";
import { CliError } from "../cliError.js";
import { relayPlaces } from "./relay.js";

const PIN = "sha256:own";
const config = (
  listen: { host: string; port: number } | undefined,
  peers: GatewayConfig["peers"],
): Parameters<typeof relayPlaces>[0] => ({
  listeners: { reflectionOnTcp: false, ...(listen === undefined ? {} : { peers: listen }) },
  peers,
});

test("the peer with the home's own pin stands for the gateway that relays", () => {
  const peers = { south: { address: "south:1", pin: "sha256:s" }, hub: { address: "127.0.0.1:7422", pin: PIN } };
  expect(relayPlaces(config({ host: "0.0.0.0", port: 7421 }, peers), PIN)).toEqual({
    hubName: "hub",
    localAddress: "127.0.0.1:7421",
    listen: { host: "127.0.0.1", port: 7422 },
  });
});

test("addresses of version 6 keep their brackets where one dials and lose them where one listens", () => {
  const peers = { hub: { address: "[::1]:7422", pin: PIN } };
  expect(relayPlaces(config({ host: "::1", port: 7421 }, peers), PIN)).toMatchObject({
    localAddress: "[::1]:7421",
    listen: { host: "::1", port: 7422 },
  });
});

test.each<[string, ReturnType<typeof config>]>([
  ["no peer with the own pin", config({ host: "127.0.0.1", port: 7421 }, { hub: { address: "a:1", pin: "sha256:x" } })],
  ["no peer listener", config(undefined, { hub: { address: "a:1", pin: PIN } })],
  ["a port that nobody knows", config({ host: "127.0.0.1", port: 0 }, { hub: { address: "a:1", pin: PIN } })],
])("%s is refused with the lines that are missing", (_what, given) => {
  const refused = (): unknown => relayPlaces(given, PIN);
  expect(refused).toThrow(CliError);
  try {
    refused();
  } catch (caught) {
    expect((caught as CliError).hint).toContain(`pin: "${PIN}"`);
  }
});
