import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";

import { begin, serve, talaria, temporaryHome } from "../cli/useTalaria.js";
import { waitFor } from "../kit/waitFor.js";

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

const configure = (home: string, config: unknown): void => {
  // JSON is YAML.
  writeFileSync(join(home, "talaria.yaml"), JSON.stringify(config));
};

const pinOf = async (home: string): Promise<string> => (await talaria("--home", home, "pin")).stdout.trim();

test("talaria relay connect carries messages both ways between two served homes, and stops when told to", async () => {
  const [hubHome, nookHome] = [temporaryHome(), temporaryHome()];
  const [nookPin, hubPin] = await Promise.all([pinOf(nookHome), pinOf(hubHome)]);
  const [own, relay] = [await freePort(), await freePort()];
  configure(hubHome, {
    name: "hub",
    listeners: { peers: { host: "127.0.0.1", port: 0 } },
    peers: { laptop: { connector: true, pin: nookPin } },
  });
  configure(nookHome, {
    name: "nook",
    listeners: { peers: { host: "127.0.0.1", port: own } },
    peers: { hub: { address: `127.0.0.1:${String(relay)}`, pin: nookPin } },
    budgets: { peer_retry_min_ms: 100, peer_retry_max_ms: 1_000 },
  });
  const [hub] = await Promise.all([serve(hubHome), serve(nookHome)]);
  const address = hub.info.addresses["peers"] ?? "";
  const connector = begin("--home", nookHome, "--json", "relay", "connect", "--hub", address, "--pin", hubPin);
  const [line] = (await once(createInterface({ input: connector.child.stdout }), "line")) as [string];
  expect(JSON.parse(line)).toMatchObject({ relaying: address, hub: "hub", as: nookPin });

  const down = await talaria("--home", hubHome, "dm", "send", "main@laptop", "Hello below", "--wait");
  expect(down).toMatchObject({ code: 0 });
  expect(down.stdout).toContain("Hello below");
  const up = await waitFor("a message goes up", async () => {
    const sent = await talaria("--home", nookHome, "dm", "send", "hub/main", "Hello above", "--wait");
    return sent.code === 0 ? { found: sent } : { state: sent };
  });
  expect(up.stdout).toContain("Hello above");

  const status = await talaria("--home", hubHome, "--json", "relay", "status");
  expect(JSON.parse(status.stdout)).toMatchObject([
    { name: "laptop", link: "PEER_LINK_UP", published: [{ name: "main" }], waiting: 0, leased: [] },
  ]);
  expect((await talaria("--home", hubHome, "relay", "status")).stdout).toMatch(/^laptop +up .* main +0 +0/m);
  expect((await talaria("--home", nookHome, "relay", "status")).stdout).toContain("There are no connectors.");

  connector.child.kill("SIGTERM");
  expect(await connector.ended).toMatchObject({ code: 0 });
});

test("a home whose configuration does not name the gateway that relays is told the lines to add", async () => {
  const home = temporaryHome();
  const pin = await pinOf(home);
  const refused = await talaria("--home", home, "relay", "connect", "--hub", "127.0.0.1:1", "--pin", pin);
  expect(refused).toMatchObject({ code: 78, stdout: "" });
  expect(refused.stderr).toContain(`pin: "${pin}"`);
  const mistyped = await talaria("--home", home, "relay", "connect", "--hub", "127.0.0.1:1", "--pin", "sha256:x");
  expect(mistyped.code).toBe(64);
});
