import { spawn } from "node:child_process";
import { root } from "./paths.mjs";

/**
 * Runs a command in the checkout with its input closed and collects what it prints.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ env?: Record<string, string>, cwd?: string }} [options] variables added to this process's own; where to run,
 *   default the checkout
 * @returns {Promise<{ code: number, stdout: Buffer, output: string }>} `code` is 1 after a signal; `output` holds both
 *   streams in order of arrival. Rejects where the command cannot be started.
 */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? root,
      env: { ...process.env, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    /** @type {Buffer[]} */
    const stdout = [];
    /** @type {Buffer[]} */
    const both = [];
    child.stdout.on("data", (chunk) => {
      stdout.push(chunk);
      both.push(chunk);
    });
    child.stderr.on("data", (chunk) => both.push(chunk));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      const suffix = signal === null ? "" : `\nkilled by ${signal}\n`;
      resolve({
        code: code ?? 1,
        stdout: Buffer.concat(stdout),
        output: Buffer.concat(both).toString("utf8") + suffix,
      });
    });
  });
}
