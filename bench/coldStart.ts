import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build as bundle } from "esbuild";
import { build } from "../scripts/build.mjs";
import { systemRandom } from "../src/base/random.js";
import { startScriptedOwner } from "../test/worker/scriptedOwner.js";
import { ratios, spread } from "./lib/stats.js";
import { interleave } from "./suite.js";

// How long a worker takes from its spawn to its `hello` at the owner, against bare Node from its spawn to its first output.
// Usage: node --import tsx bench/coldStart.ts [ROUNDS]

const root = join(import.meta.dirname, "..");
const rounds = Number(process.argv[2] ?? 15);
const VARIANTS = ["bare node", "one ES module", "script", "script with cache"] as const;

await build();
const directory = mkdtempSync(join(tmpdir(), "tb-"));
const cache = join(directory, "cache");
mkdirSync(cache);
const bare = join(directory, "bare.cjs");
writeFileSync(bare, 'process.stdout.write("x");');
const esModule = join(root, "node_modules", ".cache", "cold-start");
await bundleAsModule(esModule);
const owner = await startScriptedOwner();
const entry = join(root, "dist", "worker", "main.cjs");
const commands: Readonly<Record<(typeof VARIANTS)[number], readonly string[]>> = {
  "bare node": [bare],
  "one ES module": [join(esModule, "main.mjs")],
  script: [entry],
  "script with cache": [entry, cache],
};

try {
  await makeCache();
  const times = await interleave(rounds, VARIANTS, (name) => measure(commands[name], name === "bare node"));
  for (const name of VARIANTS) {
    for (const figure of ["tookMs", "cpuMs"] as const) {
      const of = (variant: (typeof VARIANTS)[number]): number[] => times[variant].map((start) => start[figure]);
      const { median, min, max } = spread(of(name));
      const against = (base: (typeof VARIANTS)[number]): string => ratios(of(name), of(base)).median.toFixed(2);
      console.log(
        `${name.padEnd(18)} ${figure} ${median.toFixed(1)} (${min.toFixed(1)}-${max.toFixed(1)}); ` +
          `${against("bare node")} of bare node, ${against("one ES module")} of one ES module`,
      );
    }
  }
} finally {
  await owner.close();
  rmSync(directory, { recursive: true, force: true });
}

/** One start. */
interface Start {
  /** Milliseconds from the spawn. */
  readonly tookMs: number;
  /** Milliseconds of processor time of all its threads by then: steadier than the clock on a machine that others use. */
  readonly cpuMs: number;
}

/** Processor time of a process that lives, in milliseconds; Linux only. */
function cpuTimeOf(pid: number): number {
  const tasks = `/proc/${String(pid)}/task`;
  return readdirSync(tasks)
    .map((task) => Number(readFileSync(join(tasks, task, "schedstat"), "latin1").split(" ")[0]) / 1e6)
    .reduce((sum, ms) => sum + ms, 0);
}

/** Starts a program and waits for its first output, or for the hello of a worker. */
async function measure(args: readonly string[], toOutput: boolean): Promise<Start> {
  const began = performance.now();
  const child = start(args);
  if (toOutput) await once(child.stdout, "data");
  else await (await owner.attached()).next("hello");
  const tookMs = performance.now() - began;
  const cpuMs = cpuTimeOf(child.pid ?? 0);
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  return { tookMs, cpuMs };
}

/** Lets one worker practise as the pool does, so that it keeps its compiled code. */
async function makeCache(): Promise<void> {
  const child = start(commands["script with cache"]);
  const attachment = await owner.attached();
  for (let round = 1; round <= 24; round++) {
    attachment.send({ $case: "dryRun", value: { round, payload: Buffer.alloc(256), likelyRuntime: "echo" } });
    await attachment.next("dryRunDone");
  }
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  if (readdirSync(cache).length === 0) throw new Error("the worker has kept no compiled code");
}

function start(args: readonly string[]) {
  const child = spawn(process.execPath, args, {
    stdio: ["pipe", "pipe", "ignore"],
    env: { PATH: process.env["PATH"], TALARIA_OWNER_SOCKET: owner.socketPath },
  });
  child.stdin.on("error", () => undefined);
  child.stdin.write(`${systemRandom.bytes(32).toString("base64url")}\n`);
  return child;
}

/** Builds the worker as one ES module, as bundlers do by default. */
async function bundleAsModule(outdir: string): Promise<void> {
  const names = [
    'import { createRequire } from "node:module";',
    "const require = createRequire(import.meta.url);",
    "const __filename = import.meta.filename, __dirname = import.meta.dirname;",
  ];
  const contents = `
    import { startWorker } from "./startWorker.js";
    const lifelineScript = ${JSON.stringify(join(root, "dist/worker/lifelineThread.cjs"))};
    await startWorker({ lifelineScript, keepCode: () => undefined });`;
  await bundle({
    absWorkingDir: root,
    stdin: { contents, resolveDir: join(root, "src/worker"), sourcefile: "main.ts", loader: "ts" },
    outfile: join(outdir, "main.mjs"),
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    external: ["koffi"],
    banner: { js: names.join("\n") },
  });
}
