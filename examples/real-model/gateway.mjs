// A gateway on a home of its own, and the model's server beside it, as processes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { connectTalaria } from "../../dist/client/index.js";

const command = join(import.meta.dirname, "..", "..", "dist", "cli", "main.js");
/** How long a process may take to start or to end, milliseconds. */
const PATIENCE_MS = 60_000;

/**
 * Starts a program that prints one line of JSON when it is ready.
 * @param {string} name @param {readonly string[]} args
 */
async function startProcess(name, args) {
  // In a group of its own: an interrupt from the terminal ends the runs, and they end their processes.
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  /** @type {string[]} */
  const log = [];
  createInterface({ input: child.stderr }).on("line", (line) => {
    log.push(line);
    if (log.length > 60) log.shift();
  });
  const closed = once(child, "close");
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const ready = once(createInterface({ input: child.stdout }), "line", { signal });
  const ended = closed.then(() => Promise.reject(new Error(`${name} ended before it was ready:\n${log.join("\n")}`)));
  ended.catch(() => undefined);
  const [line] = await Promise.race([ready, ended]);
  return {
    info: JSON.parse(line),
    log,
    async stop() {
      const late = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
      child.kill("SIGTERM");
      await closed;
      clearTimeout(late);
    },
  };
}

/** @param {readonly string[]} args of server.mjs */
export function startModel(args) {
  return startProcess("the model", [join(import.meta.dirname, "server.mjs"), ...args]);
}

/**
 * Writes the agents and serves them.
 * @param {string} home an empty folder
 * @param {{ baseUrl: string, model: string }} endpoint
 * @param {Record<string, { config: object, instructions: string }>} agents by name; the first is the main agent
 */
export async function startGateway(home, { baseUrl, model }, agents) {
  Object.entries(agents).forEach(([name, { config, instructions }], index) => {
    const folder = join(home, "agents", name);
    mkdirSync(join(folder, "workspace"), { recursive: true });
    const whole = { main: index === 0, runtime: "openai", model, base_url: baseUrl, ...config };
    // JSON is YAML.
    writeFileSync(join(folder, "agent.yaml"), JSON.stringify(whole, undefined, 2));
    writeFileSync(join(folder, "instructions.md"), instructions);
  });
  const gateway = await startProcess("the gateway", [command, "--json", "--home", home, "serve"]);
  const talaria = connectTalaria({ address: `unix:${join(home, "run", "gateway.sock")}` });
  return {
    talaria,
    log: gateway.log,
    async stop() {
      talaria.close();
      await gateway.stop();
    },
  };
}
