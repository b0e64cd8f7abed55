import { afterEach } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { ephemeralIdentity, type Identity } from "../../src/rpc/tls/identityKey.js";
import { removeHome, testGateway, type TestGateway, type TestGatewayOptions } from "../dm/testGateway.js";

const open: TestGateway[] = [];
const homes = new Set<string>();

/** A gateway that knows connectors by the given names, with the key of each. */
export async function useHub(
  options: Partial<TestGatewayOptions> = {},
  keys: Readonly<Record<string, Identity>> = {},
): Promise<{
  readonly hub: TestGateway;
  readonly keys: Readonly<Record<string, Identity>>;
  readonly laptop: Identity;
}> {
  const hub = await testGateway({ name: "hub", ...options });
  open.push(hub);
  homes.add(hub.home);
  const laptop = keys["laptop"] ?? (await ephemeralIdentity(systemClock.now()));
  const known = { ...keys, laptop };
  for (const [name, { pin }] of Object.entries(known)) hub.peers.set(name, { name, address: "", pin, connector: true });
  await hub.start();
  return { hub, keys: known, laptop };
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((gateway) => gateway.close()));
  for (const home of homes) removeHome(home);
  homes.clear();
});
