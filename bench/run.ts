import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeMachine, loadOfLastMinute } from "./lib/machine.js";
import { renderTable } from "./lib/renderTable.js";
import type { Row } from "./lib/row.js";
import type { Suite } from "./suite.js";
import { commandStarts } from "./suites/commandStarts.js";
import { accepts } from "./suites/accepts.js";
import { acceptsBesideTurns } from "./suites/acceptsBesideTurns.js";
import { backlogs } from "./suites/backlogs.js";
import { deliveries } from "./suites/deliveries.js";
import { crowds, deltas, paced } from "./suites/deltas.js";
import { link } from "./suites/link.js";
import { neighbours } from "./suites/neighbours.js";
import { recovery } from "./suites/recovery.js";
import { restarts } from "./suites/restarts.js";
import { roundTrips } from "./suites/roundTrips.js";
import { sessions } from "./suites/sessions.js";
import { starts } from "./suites/starts.js";
import { storedMessages } from "./suites/storedMessages.js";

const SUITES: Readonly<Record<string, Suite>> = {
  deltas,
  starts,
  commandStarts,
  deliveries,
  accepts,
  acceptsBesideTurns,
  backlogs,
  storedMessages,
  link,
  roundTrips,
  paced,
  crowds,
  sessions,
  recovery,
  restarts,
  neighbours,
};

const ROUNDS = 5;
/** Share of the work that a quick run does. */
const QUICK_SCALE = 0.1;

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    rounds: { type: "string" },
    only: { type: "string" },
    results: { type: "string", default: "bench/results" },
  },
});
const names = values.only?.split(",") ?? Object.keys(SUITES);
const rounds = Number(values.rounds ?? (values.quick ? 1 : ROUNDS));
const scale = values.quick ? QUICK_SCALE : 1;

const began = Date.now();
const seconds = (): string => ((Date.now() - began) / 1_000).toFixed(0).padStart(4);
const machine = describeMachine();
const loads: { readonly suite: string; readonly before: number; readonly after: number }[] = [];
const rows: Row[] = [];
mkdirSync(values.results, { recursive: true });
const stamp = new Date(began).toISOString().replaceAll(":", "-").slice(0, 19);
const file = join(values.results, `${stamp}.json`);
const write = (): void => {
  const result = { began: new Date(began), quick: values.quick, rounds, scale, machine, loads, rows };
  writeFileSync(file, `${JSON.stringify(result, undefined, 2)}\n`);
};
console.log(`${machine.cpu}, ${String(machine.cores)} cores, ${machine.system}, Node ${machine.node}`);
for (const name of names) {
  const suite = SUITES[name];
  if (suite === undefined) throw new Error(`there is no suite ${name}; there are ${Object.keys(SUITES).join(", ")}`);
  const before = loadOfLastMinute();
  const measured = await suite({
    rounds,
    scale,
    progress: (text) => {
      console.error(`${seconds()} s  load ${String(loadOfLastMinute())}  ${text}`);
    },
  });
  rows.push(...measured);
  loads.push({ suite: name, before, after: loadOfLastMinute() });
  console.log(`\n${name}\n${renderTable(measured)}`);
  // After each suite, so that a run that is cut short leaves what it has.
  write();
}

const judged = rows.filter(({ verdict }) => verdict !== "no goal");
const met = judged.filter(({ verdict }) => verdict !== "not met").length;
const loadText = loads.map(({ suite, before, after }) => `${suite} ${String(before)} to ${String(after)}`).join(", ");
console.log(`\n${String(met)} of ${String(judged.length)} goal rows met. Load of the machine: ${loadText}.`);
if (values.quick) console.log("A quick run: one short round, for a look only.");
console.log(`Written to ${file}`);
