// Two agents on a real model, several times over. See docs/real-model.md.
//   node run.mjs [--runs 20] [--first 1] [--call auto|required] [--threads 1] [--seed 1] [--keep]
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startGateway, startModel } from "./gateway.mjs";
import { resetSessions } from "./records.mjs";
import { AGENTS, messageTask, readTask } from "./tasks.mjs";

const { values: options } = parseArgs({
  options: {
    runs: { type: "string", default: "20" },
    first: { type: "string", default: "1" },
    call: { type: "string", default: "auto" },
    threads: { type: "string", default: "1" },
    seed: { type: "string", default: "1" },
    keep: { type: "boolean", default: false },
  },
});

/** @typedef {{ read: Awaited<ReturnType<typeof readTask>>, message: Awaited<ReturnType<typeof messageTask>>, ms: number[] }} Run */

/** The columns of the table. @type {readonly (readonly [string, (run: Run) => boolean])[]} */
const COLUMNS = [
  ["read: turn completed", ({ read }) => read.completed],
  ["read: tool called", ({ read }) => read.called],
  ["read: arguments valid", ({ read }) => read.valid],
  ["read: right file", ({ read }) => read.found],
  ["read: right answer", ({ read }) => read.answered],
  ["dm: turn completed", ({ message }) => message.completed],
  ["dm: tool called", ({ message }) => message.called],
  ["dm: arguments valid", ({ message }) => message.valid],
  ["dm: sent to bob", ({ message }) => message.sent],
  ["dm: as asked", ({ message }) => message.right],
  ["dm: answered by bob", ({ message }) => message.replied],
  ["dm: bob's answer right", ({ message }) => message.correct],
  ["dm: reply told to ada", ({ message }) => message.told],
];

/** @param {readonly Run[]} runs */
function table(runs) {
  const width = Math.max(...COLUMNS.map(([title]) => title.length));
  const marks = COLUMNS.map(([title, met]) => {
    const met01 = runs.map(met);
    return `${title.padEnd(width)}  ${met01.map((one) => (one ? "+" : ".")).join("")}  ${met01.filter(Boolean).length}/${runs.length}`;
  });
  const seconds = (/** @type {number[]} */ all) => {
    const [least, middle, most] = [0, Math.floor(all.length / 2), all.length - 1].map(
      (at) => all.sort((a, b) => a - b)[at] ?? 0,
    );
    return [least, middle, most].map((ms) => ((ms ?? 0) / 1000).toFixed(1)).join(" / ");
  };
  return [
    ...marks,
    `seconds a run, least / median / most: read ${seconds(runs.map(({ ms }) => ms[0] ?? 0))}, dm ${seconds(runs.map(({ ms }) => ms[1] ?? 0))}`,
    `messages between the agents: ${runs.map(({ message }) => message.messages).join(" ")}`,
    `requests in the asked turns: read ${runs.map(({ read }) => read.requests).join(" ")}, dm ${runs.map(({ message }) => message.requests).join(" ")}`,
  ].join("\n");
}

const home = mkdtempSync(join(tmpdir(), "talaria-model-"));
const modelLog = join(home, "model.jsonl");
const model = await startModel([
  ...["--call", options.call, "--threads", options.threads, "--seed", options.seed, "--log", modelLog],
]);
/** @type {Awaited<ReturnType<typeof startGateway>> | undefined} */
let gateway;
/** @type {Run[]} */
const runs = [];
let enough = false;
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => (enough = true));
try {
  writeFileSync(modelLog, "");
  gateway = await startGateway(home, model.info, AGENTS);
  const { talaria } = gateway;
  for (let run = Number(options.first); !enough && run <= Number(options.runs); run += 1) {
    const began = performance.now();
    const read = await readTask(talaria, home, run);
    const between = performance.now();
    const message = await messageTask(talaria, run);
    const done = { read, message, ms: [between - began, performance.now() - between] };
    runs.push(done);
    appendFileSync(join(home, "runs.jsonl"), `${JSON.stringify(done, plainBigints)}\n`);
    const marks = COLUMNS.map(([, met]) => (met(done) ? "+" : ".")).join("");
    console.log(`run ${run}: ${marks} ${done.ms.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(", ")}`);
    await resetSessions(talaria);
  }
} catch (error) {
  console.error(error, `\nthe gateway's last words:\n${gateway?.log.join("\n") ?? ""}`);
  process.exitCode = 1;
} finally {
  await gateway?.stop();
  await model.stop();
}
if (runs.length > 0) console.log(`\n--call ${options.call}\n${table(runs)}`);
if (options.keep) console.log(`kept: ${home}`);
else rmSync(home, { recursive: true });

/** @param {string} _ @param {unknown} value */
function plainBigints(_, value) {
  return typeof value === "bigint" ? String(value) : value;
}
