import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { makeHome, removeHome } from "../lib/benchHome.js";
import { cpuTimeOf } from "../lib/cpuTime.js";
import { makeRow, type Goal, type Row } from "../lib/row.js";
import { median } from "../lib/stats.js";
import { interleave, type Suite } from "../suite.js";

/** Starts of each kind in one round. */
const STARTS = 3;
const COMMAND = fileURLToPath(new URL("../cli/main.js", import.meta.url));

interface Start {
  readonly tookMs: number;
  /** Of all threads, until then. */
  readonly cpuMs: number;
}

/** What is started. The first `serve` of a home finds no compiled code, which it then keeps there. */
const KINDS = ["node", "serve", "first serve", "help"] as const;
type Kind = (typeof KINDS)[number];

/** How long the command takes to start: `serve` until it says that it serves, on a home that was served before and on a fresh one. */
export const commandStarts: Suite = async ({ rounds, scale, progress }) => {
  const starts = Math.max(1, Math.round(STARTS * scale));
  const home = makeHome({});
  try {
    const args = ["--json", "--home", home];
    await served([COMMAND, ...args, "serve"]);
    progress(`commandStarts: ${String(starts)} starts a round of serve, of help and of bare Node`);
    const start: Readonly<Record<Kind, () => Promise<Start>>> = {
      node: () => ended(["-e", "0"], ["-p", "process.cpuUsage().user + process.cpuUsage().system"]),
      serve: () => served([COMMAND, ...args, "serve"]),
      "first serve": async () => {
        const fresh = makeHome({});
        try {
          return await served([COMMAND, "--json", "--home", fresh, "serve"]);
        } finally {
          removeHome(fresh);
        }
      },
      help: () => ended([COMMAND, ...args, "--help"]),
    };
    const samples = await interleave(rounds, KINDS, async (kind) => {
      const taken: Start[] = [];
      for (let index = 0; index < starts; index++) taken.push(await start[kind]());
      return taken;
    });
    return rowsOf(samples);
  } finally {
    removeHome(home);
  }
};

function rowsOf(samples: Readonly<Record<Kind, readonly (readonly Start[])[]>>): Row[] {
  const rounds = (kind: Kind, figure: keyof Start): number[] =>
    samples[kind].map((round) => median(round.map((start) => start[figure])));
  const row = (
    kind: Kind,
    metric: string,
    figure: keyof Start,
    goal: { readonly goalName?: string; readonly goal?: Goal } = {},
  ): Row =>
    makeRow({
      metric,
      unit: "ms",
      values: rounds(kind, figure),
      baseline: { name: "node -e 0", values: rounds("node", figure) },
      ...goal,
    });
  const atMostFour = { goalName: "start", goal: { of: "ratio", atMost: 4 } } as const;
  return [
    row("serve", "serve: until it says that it serves", "tookMs", atMostFour),
    row("serve", "serve: CPU until then", "cpuMs"),
    row("first serve", "serve of a fresh home: until it says that it serves", "tookMs"),
    row("help", "--help: until it has ended", "tookMs"),
  ];
}

/** Starts a gateway and kills it once it has written its line. */
async function served(args: readonly string[]): Promise<Start> {
  const began = performance.now();
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  const exited = once(child, "exit");
  await Promise.race([
    once(child.stdout, "data"),
    exited.then(([code]) => Promise.reject(new Error(`${args.join(" ")} has ended: code ${String(code)}`))),
  ]);
  const tookMs = performance.now() - began;
  const cpuMs = cpuTimeOf(child.pid ?? 0) / 1_000;
  // It keeps its code after that line: the next start shall find it.
  child.kill("SIGTERM");
  await exited;
  return { tookMs, cpuMs };
}

/** Runs a program to its end. @param asked what prints the microseconds of CPU that the same takes, where that is known */
async function ended(args: readonly string[], asked?: readonly string[]): Promise<Start> {
  const began = performance.now();
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  child.stdout.resume();
  await once(child, "exit");
  const tookMs = performance.now() - began;
  if (asked === undefined) return { tookMs, cpuMs: Number.NaN };
  const printing = spawn(process.execPath, asked, { stdio: ["ignore", "pipe", "ignore"] });
  const [text] = (await once(printing.stdout.setEncoding("utf8"), "data")) as [string];
  await once(printing, "exit");
  return { tookMs, cpuMs: Number(text) / 1_000 };
}
