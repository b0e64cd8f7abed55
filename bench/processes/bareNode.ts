import { spawn } from "node:child_process";
import { once } from "node:events";
import { privateKib } from "../lib/privateMemory.js";

/** A bare Node process: milliseconds until its first byte is read, and what it keeps for itself while it idles. */
export async function bareNode(): Promise<{ readonly firstByteMs: number; readonly privateKib: number }> {
  const script = 'process.stdout.write("x"); process.stdin.resume();';
  const began = performance.now();
  const child = spawn(process.execPath, ["-e", script], { stdio: ["pipe", "pipe", "inherit"] });
  await once(child.stdout, "data");
  const firstByteMs = performance.now() - began;
  const kib = privateKib(child.pid ?? 0);
  child.stdin.end();
  await once(child, "exit");
  return { firstByteMs, privateKib: kib };
}
