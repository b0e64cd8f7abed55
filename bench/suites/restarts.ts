import { copyHome, makeHome, removeHome } from "../lib/benchHome.js";
import { startProcess } from "../lib/benchProcess.js";
import { recipientNames } from "../lib/peerHome.js";
import { makeRow } from "../lib/row.js";
import { seedBacklog } from "../lib/seedBacklog.js";
import type { GatewayMethods } from "../processes/gatewayProcess.js";
import type { RestartTimes } from "../processes/restartTimes.js";
import { interleave, type Suite } from "../suite.js";

/** Messages that wait: as many as a home takes. */
const QUEUED = 10_000;
const RECIPIENTS = 100;
const BYTES = 512;

/** The restart of a gateway in which thousands of messages wait, against an empty home, and against one message that waits. */
export const restarts: Suite = async ({ rounds, scale, progress }) => {
  const queued = Math.max(RECIPIENTS * 5, Math.round(QUEUED * scale));
  const recipients = recipientNames(RECIPIENTS);
  // One turn at a time, so that both homes start one worker.
  const config = { log_level: "error", workers: { pool_size: 0, max: 1 } };
  const waiting = { empty: 0, one: 1, full: queued };
  const homes = {
    empty: makeHome(config, ["main", ...recipients]),
    one: makeHome(config, ["main", ...recipients]),
    full: makeHome(config, ["main", ...recipients]),
  };
  try {
    progress(`restarts: making a home in which ${String(queued)} messages wait`);
    for (const name of ["one", "full"] as const) {
      const shape = { count: waiting[name], recipients, bytes: BYTES, other: "west", direction: "inbound" } as const;
      await seedBacklog(homes[name], shape);
    }
    progress("restarts: starts");
    const times = await interleave(rounds, ["empty", "one", "full"], (name) => startOn(homes[name], waiting[name]));
    const what = `${String(queued)} messages waiting for ${String(RECIPIENTS)} agents`;
    return [
      makeRow({
        metric: `restart, ${what}: until it serves`,
        unit: "ms",
        values: times.full.map(({ servesMs }) => servesMs),
        baseline: { name: "an empty home", values: times.empty.map(({ servesMs }) => servesMs) },
      }),
      makeRow({
        metric: `restart, ${what}: until the first of them runs in a cold worker`,
        unit: "ms",
        values: times.full.map(runsMs),
        baseline: { name: "one message waiting", values: times.one.map(runsMs) },
      }),
    ];
  } finally {
    for (const home of Object.values(homes)) removeHome(home);
  }
};

function runsMs({ runsMs: ms }: RestartTimes): number {
  if (ms === undefined) throw new Error("no message was waited for");
  return ms;
}

async function startOn(template: string, waiting: number): Promise<RestartTimes> {
  const home = copyHome(template);
  const gateway = startProcess<GatewayMethods>("gatewayProcess");
  try {
    // The process is up before the time is taken.
    await gateway.call("loopDelay", undefined);
    const times = await gateway.call("restart", { home, waits: waiting > 0 });
    const { accepted, states } = await gateway.call("totals", undefined);
    const { queued, claimed, replied } = states;
    if (accepted !== waiting || queued + claimed + replied !== waiting || (waiting > 0 && queued === waiting)) {
      throw new Error(`${String(waiting)} messages waited, of which the store says ${JSON.stringify(states)}`);
    }
    await gateway.call("stop", undefined);
    return times;
  } finally {
    await gateway.end();
    removeHome(home);
  }
}
