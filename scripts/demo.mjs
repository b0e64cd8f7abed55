// Shows the main job end to end on two temporary gateways, and checks each step of it.
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "./build.mjs";
import { command, talaria } from "./demo/command.mjs";
import { GatewayProcess } from "./demo/gatewayProcess.mjs";
import { processesOf } from "./demo/leftovers.mjs";
import { filesBelow, root } from "./lib/paths.mjs";
import { elapsedSeconds, say, scene } from "./demo/narrator.mjs";
import { killedReceiver, messageWithReply, streamedTurn } from "./demo/scenes.mjs";

/** @param {string} home @param {Record<string, string>} agents description by name; the first is the main agent */
function writeAgents(home, agents) {
  Object.entries(agents).forEach(([name, description], index) => {
    mkdirSync(join(home, "agents", name), { recursive: true });
    const text = `description: ${description}\nruntime: echo\nmain: ${index === 0}\n`;
    writeFileSync(join(home, "agents", name, "agent.yaml"), text);
  });
}

/** @returns {boolean} whether the command is missing, or older than a source that it is made of */
function isStale() {
  const newest = (folder) =>
    Math.max(0, ...filesBelow(join(root, folder)).map((name) => statSync(join(root, folder, name)).mtimeMs));
  return !existsSync(command) || newest("src") > newest("dist");
}

/** @param {number} count @returns {Promise<number[]>} ports that are free at the moment */
async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => /** @type {import("node:net").AddressInfo} */ (server.address()).port);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}

/** Writes the homes of two gateways that have each other's key. @param {string} directory */
async function twoGateways(directory) {
  const west = new GatewayProcess("west", join(directory, "west"));
  const east = new GatewayProcess("east", join(directory, "east"));
  writeAgents(west.home, { ada: "sends", bob: "answers" });
  writeAgents(east.home, { eve: "answers from afar" });
  const ports = await freePorts(2);
  const pins = await Promise.all([west, east].map(async ({ home }) => (await talaria(home, ["pin"]))[0].pin));
  [west, east].forEach(({ name, home }, index) => {
    const other =
      index === 0 ? { name: "east", port: ports[1], pin: pins[1] } : { name: "west", port: ports[0], pin: pins[0] };
    const config = {
      name,
      listeners: { peers: { host: "127.0.0.1", port: ports[index] } },
      peers: { [other.name]: { address: `127.0.0.1:${other.port}`, pin: other.pin } },
      budgets: { peer_retry_min_ms: 100, peer_retry_max_ms: 1000 },
    };
    // JSON is YAML.
    writeFileSync(join(home, "talaria.yaml"), JSON.stringify(config, undefined, 2));
    say(`${name}: home ${home}, key ${pins[index]}`);
  });
  return { west, east };
}

/** @param {string} directory @param {GatewayProcess[]} gateways */
async function play(directory, gateways) {
  scene("Two gateways with mutually pinned keys");
  const { west, east } = await twoGateways(directory);
  gateways.push(west, east);
  for (const [gateway, info] of await Promise.all(
    gateways.map(async (gateway) => /** @type {const} */ ([gateway, await gateway.start()])),
  )) {
    say(`${gateway.name}: serving as process ${gateway.pid}, peers at ${info.addresses.peers}`);
  }
  scene("A turn, streamed");
  await streamedTurn(west);
  scene("A message between two agents of one gateway");
  await messageWithReply(west, "bob", "Hello Bob");
  scene("A message to an agent of the other gateway, over mutual TLS");
  await messageWithReply(west, "east/eve", "Hello Eve");
  scene("The receiver is killed after it accepted a message and before the message's turn");
  await killedReceiver(west, east, "east/eve");
  scene("The end");
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  say("both gateways have drained");
}

const directory = mkdtempSync(join(tmpdir(), "talaria-demo-"));
/** @type {GatewayProcess[]} */
const gateways = [];
try {
  if (isStale()) await build();
  await play(directory, gateways);
  const left = processesOf(directory);
  if (left.length > 0) throw new Error(`processes are left: ${JSON.stringify(left)}`);
  rmSync(directory, { recursive: true });
  if (existsSync(directory)) throw new Error(`${directory} is left`);
  say("no process and no file is left");
  console.log(`\nThe demo took ${elapsedSeconds().toFixed(1)} s.`);
} catch (error) {
  console.error(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}`);
  for (const gateway of gateways) {
    console.error(`\nLast log lines of ${gateway.name}:\n${gateway.log.join("\n")}`);
    await gateway.kill().catch(() => undefined);
  }
  for (const { pid } of processesOf(directory)) process.kill(pid, "SIGKILL");
  rmSync(directory, { recursive: true, force: true });
  process.exitCode = 1;
}
