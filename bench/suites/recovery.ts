import { copyHome, makeHome, removeHome } from "../lib/benchHome.js";
import { startProcess } from "../lib/benchProcess.js";
import { makeRow } from "../lib/row.js";
import { seedExecutions } from "../lib/seedExecutions.js";
import type { GatewayMethods } from "../processes/gatewayProcess.js";
import { interleave, type Suite } from "../suite.js";

/** Sessions that were running when the gateway was killed. */
const INTERRUPTED = 100;
/** Executions that had finished before. */
const FINISHED = 10_000;

/** The start of a gateway on a home that has much to remember and to settle, against one on an empty home. */
export const recovery: Suite = async ({ rounds, scale, progress }) => {
  const interrupted = Math.max(5, Math.round(INTERRUPTED * scale));
  const finished = Math.max(10, Math.round((FINISHED * scale) / interrupted));
  const config = { workers: { pool_size: 0 } };
  const templates = { empty: makeHome(config), full: makeHome(config) };
  try {
    const what = `${String(finished * interrupted)} finished and ${String(interrupted)} interrupted executions`;
    progress(`recovery: making a home with ${what}`);
    await seedExecutions(templates.full, { sessions: interrupted, finished });
    progress("recovery: starts");
    const starts = await interleave(rounds, ["empty", "full"], (name) => startOn(templates[name]));
    return [
      makeRow({
        metric: `start of a home with ${what}, until it serves`,
        unit: "ms",
        values: starts.full,
        baseline: { name: "an empty home", values: starts.empty },
      }),
    ];
  } finally {
    for (const home of Object.values(templates)) removeHome(home);
  }
};

/** Starts a gateway on a copy of a home. @returns milliseconds until it serves, its process's own start left out. */
async function startOn(template: string): Promise<number> {
  const home = copyHome(template);
  const gateway = startProcess<GatewayMethods>("gatewayProcess");
  try {
    await gateway.call("loopDelay", undefined);
    const began = performance.now();
    await gateway.call("start", { home });
    const took = performance.now() - began;
    await gateway.call("stop", undefined);
    return took;
  } finally {
    await gateway.end();
    removeHome(home);
  }
}
