import { createInterface } from "node:readline";

// The baseline's worker: it says `ready`, waits for `go`, writes a JSON line for each delta, and stays until its input ends.
// Usage: pipeSource.js flood SESSION COUNT BURST BYTES PAUSE_MS, or pipeSource.js echo
const [mode = "", session = "", ...numbers] = process.argv.slice(2);
const [count = 0, burst = 1, bytes = 32, pauseMs = 0] = numbers.map(Number);

const drained = (): Promise<void> =>
  new Promise((resolve) => {
    process.stdout.once("drain", resolve);
  });

async function flood(): Promise<void> {
  const text = "x".repeat(bytes);
  for (let sent = 0; sent < count;) {
    const until = Math.min(count, sent + burst);
    let open = true;
    for (; sent < until; sent++) {
      open = process.stdout.write(`${JSON.stringify({ type: "delta", session, sequence: sent + 1, text })}\n`);
    }
    if (!open) await drained();
    if (pauseMs > 0) await new Promise<void>((resolve) => setTimeout(resolve, pauseMs));
    else await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
lines.on("line", (line) => {
  if (mode === "echo") process.stdout.write(`${JSON.stringify(JSON.parse(line))}\n`);
  else void flood();
});
process.stdout.write(`${JSON.stringify({ type: "ready" })}\n`);
