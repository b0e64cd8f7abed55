import { spawn, type ChildProcess } from "node:child_process";
import { createDeferred } from "../../../base/deferred.js";

/** Starts a child in the worker's own group that ignores SIGTERM and sleeps for a day. */
function startChild(): ChildProcess {
  return spawn("/bin/sh", ["-c", 'trap "" TERM; sleep 86400'], { stdio: "ignore", detached: false });
}

/** Starts the child and waits for its end, whatever Stop says. */
export async function hangOnChild(announce: (text: string) => Promise<void>): Promise<string> {
  const child = startChild();
  const ended = createDeferred<string>();
  child.once("exit", (code, signal) => {
    ended.resolve(`child ended: ${signal ?? String(code)}`);
  });
  child.once("error", (error) => {
    ended.resolve(`child failed: ${error.message}`);
  });
  await announce(`child: ${String(child.pid)}`);
  return ended.promise;
}

/** Starts the child and leaves it behind. */
export function leaveChild(): string {
  const child = startChild();
  child.unref();
  return `child: ${String(child.pid)}`;
}
