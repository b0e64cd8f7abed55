import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { FloodMeter, type FloodFigures, type FloodShape } from "../lib/floodMeter.js";

type Source = ChildProcessByStdio<Writable, Readable, null>;

interface Line {
  readonly type: string;
  readonly session?: string;
  readonly sequence?: number;
  readonly text?: string;
}

/** Runs a flood of JSON lines over pipes: one child for each worker, read line by line, parsed, checked and counted. */
export async function floodPipes(shape: FloodShape): Promise<FloodFigures> {
  const sources = Array.from({ length: shape.workers }, (_, index) => startSource(`s${String(index)}`, shape));
  try {
    const meter = new FloodMeter(
      shape,
      sources.map(({ pid }) => pid ?? 0),
    );
    await Promise.all(sources.map((source) => follow(source, meter)));
    for (const source of sources) source.stdin.write("go\n");
    return await meter.figures;
  } finally {
    for (const source of sources) source.kill("SIGKILL");
    await Promise.all(
      sources.map(async (source) => {
        if (source.exitCode === null && source.signalCode === null) await once(source, "exit");
      }),
    );
  }
}

function startSource(session: string, { count, burst, bytes, pauseMs = 0 }: FloodShape): Source {
  const entry = fileURLToPath(new URL("./pipeSource.js", import.meta.url));
  const args = [entry, "flood", session, ...[count, burst, bytes, pauseMs].map(String)];
  return spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
}

/** Resolves when the source is ready; its deltas are counted from then on. */
function follow(source: Source, meter: FloodMeter): Promise<void> {
  let sequence = 0;
  return new Promise((resolve) => {
    createInterface({ input: source.stdout, crlfDelay: Infinity }).on("line", (text) => {
      const line = JSON.parse(text) as Line;
      if (line.type === "ready") {
        resolve();
        return;
      }
      sequence += 1;
      if (line.type !== "delta" || line.sequence !== sequence || typeof line.text !== "string") {
        meter.fail(new Error(`not the delta ${String(sequence)}: ${text.slice(0, 200)}`));
        return;
      }
      meter.add(Buffer.byteLength(line.text));
    });
  });
}
