import { createReadStream, fstatSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../base/clock.js";
import { groupToKill } from "./groupToKill.js";
import { readLaunchLine } from "./launchToken.js";
import type { LifelineEvent, LifelineOrder, LifelineStart } from "./lifelineMessages.js";

// Once this thread runs it alone reads the launch pipe, so that a main loop that spins, or a read that blocks, changes nothing about
// when the process dies after its owner.

const LAUNCH_PIPE = 0;

const start = workerData as LifelineStart;
const { self, ancestors } = start;

let { graceMs, line } = start;
let ownerGone = false;
let cancelKill: (() => void) | undefined;
let orphanedAtMs: number | undefined;

function tell(event: LifelineEvent): void {
  parentPort?.postMessage(event);
}

function beginGrace(): void {
  orphanedAtMs ??= systemClock.monotonic();
  cancelKill?.();
  cancelKill = systemClock.after(graceMs - (systemClock.monotonic() - orphanedAtMs), die);
}

function die(): void {
  const message = { level: "error", pid: process.pid, msg: "the owner is gone and the grace is over" };
  try {
    writeSync(2, `${JSON.stringify(message)}\n`);
  } catch {
    // The reader has died with the owner: that must not save this process.
  }
  const target = self === undefined ? { kind: "self" as const } : groupToKill(self, ancestors);
  if (target.kind === "group") process.kill(-target.pgid, "SIGKILL");
  process.kill(process.pid, "SIGKILL");
}

function onEnd(): void {
  if (ownerGone) return;
  ownerGone = true;
  if (line.kind !== "token") tell({ kind: "noToken" });
  tell({ kind: "ownerGone" });
  beginGrace();
}

function openPipe(): Readable | undefined {
  try {
    const kind = fstatSync(LAUNCH_PIPE);
    if (kind.isFIFO() || kind.isSocket()) return new Socket({ fd: LAUNCH_PIPE, readable: true, writable: false });
    // A terminal is nobody's launch pipe, and reading it would block.
    if (kind.isFile()) return createReadStream("", { fd: LAUNCH_PIPE });
  } catch {
    // Closed: no launch pipe.
  }
  return undefined;
}

parentPort?.on("message", (order: LifelineOrder) => {
  if (order.kind === "grace") {
    graceMs = order.ms;
    if (orphanedAtMs !== undefined) beginGrace();
  } else beginGrace();
});

const pipe = openPipe();
if (pipe === undefined) onEnd();
else {
  pipe.setEncoding("latin1");
  pipe.on("data", (chunk: string) => {
    const before = line;
    line = readLaunchLine(line, chunk);
    if (before.kind !== "reading") return;
    if (line.kind === "token") tell({ kind: "token", token: line.token });
    if (line.kind === "none") tell({ kind: "noToken" });
  });
  pipe.on("end", onEnd);
  pipe.on("error", onEnd);
  pipe.on("close", onEnd);
}
