import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { command } from "./command.mjs";
import { within } from "./narrator.mjs";

/** Log lines that are kept to be shown after a failure. */
const KEPT_LINES = 40;

/** A `talaria serve` process on one home. */
export class GatewayProcess {
  #child;
  #closed;
  /** @type {string[]} */
  #log = [];

  /**
   * @param {string} name for the transcript
   * @param {string} home
   */
  constructor(name, home) {
    this.name = name;
    this.home = home;
  }

  /** Process id; undefined while it does not run. */
  get pid() {
    return this.#child?.pid;
  }

  /** The last lines of its log. */
  get log() {
    return this.#log.slice(-KEPT_LINES);
  }

  /** Starts it and waits until it serves. Returns what it says of itself. */
  async start() {
    const child = spawn(process.execPath, [command, "--json", "--home", this.home, "serve"], {
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    this.#child = child;
    this.#closed = once(child, "close");
    const keep = (line) => {
      this.#log.push(line);
      if (this.#log.length > 4 * KEPT_LINES) this.#log.splice(0, KEPT_LINES);
    };
    createInterface({ input: child.stderr }).on("line", keep);
    const ready = once(createInterface({ input: child.stdout }), "line");
    const ended = this.#closed.then(() => Promise.reject(new Error(`${this.name} ended before it served`)));
    const [line] = await within(`${this.name} starts`, Promise.race([ready, ended]));
    ended.catch(() => undefined);
    return JSON.parse(line);
  }

  /** Ends it in order. */
  async stop() {
    if (!this.#child) return;
    this.#child.kill("SIGTERM");
    const [code] = await within(`${this.name} drains`, this.#closed);
    this.#child = undefined;
    if (code !== 0) throw new Error(`${this.name} ended with exit code ${code}`);
  }

  /** Kills it, as a power cut would. */
  async kill() {
    if (!this.#child) return;
    this.#child.kill("SIGKILL");
    await within(`${this.name} is killed`, this.#closed);
    this.#child = undefined;
  }
}
