import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../lib/paths.mjs";

/** The built command. */
export const command = join(root, "dist", "cli", "main.js");

/**
 * Runs `talaria --json --home <home> <args>`.
 * @param {string} home
 * @param {readonly string[]} args
 * @param {(value: any) => unknown} [onValue] takes each value as it is printed; `"enough"` ends the command there
 * @returns {Promise<any[]>} every value. Throws with the command's own error where it fails.
 */
export async function talaria(home, args, onValue = () => undefined) {
  const child = spawn(process.execPath, [command, "--json", "--home", home, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (complaint += text));
  const closed = once(child, "close");
  const values = [];
  let enough = false;
  for await (const line of createInterface({ input: child.stdout })) {
    const value = JSON.parse(line);
    values.push(value);
    enough = onValue(value) === "enough";
    if (enough) break;
  }
  if (enough) child.kill();
  const [code, signal] = await closed;
  if (!enough && code !== 0) {
    throw new Error(`talaria ${args.join(" ")}: ${signal ?? `exit ${code}`}\n${complaint.trim()}`);
  }
  return values;
}
