import { chmodSync, lstatSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { LIMITS } from "../base/limits.js";
import { RpcError } from "./rpcError.js";

/**
 * Checks the length of a Unix socket's path, in bytes. Node 20 cuts longer ones silently, so that two paths can be one socket.
 * @throws RpcError SOCKET_PATH_TOO_LONG, naming the setting that shortens it.
 */
export function checkSocketPath(path: string): void {
  const bytes = Buffer.byteLength(path, "utf8");
  if (bytes <= LIMITS.socketPathBytes) return;
  throw new RpcError("SOCKET_PATH_TOO_LONG", {
    message: `The socket path ${path} has ${String(bytes)} bytes; at most ${String(LIMITS.socketPathBytes)} are possible. Set run_dir to a shorter directory.`,
    metadata: { bytes: String(bytes), limit: String(LIMITS.socketPathBytes), setting: "run_dir" },
  });
}

/**
 * Makes way for a socket at `path`: a socket file that nobody listens on any more is removed. The caller must hold the lock of
 * the home, or two starts could remove one another's socket.
 * @throws RpcError ADDRESS_IN_USE where somebody listens, or where the file is no socket.
 */
export async function clearStaleSocket(path: string): Promise<void> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isSocket()) throw new RpcError("ADDRESS_IN_USE", { message: `${path} exists and is not a socket.` });
  if (await somebodyListens(path)) {
    throw new RpcError("ADDRESS_IN_USE", { message: `Another process listens on ${path}.` });
  }
  rmSync(path, { force: true });
}

/** Lets only this user connect: writing to the file is what connecting needs. */
export function restrictSocket(path: string): void {
  chmodSync(path, 0o600);
}

function somebodyListens(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createConnection(path);
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED" || error.code === "ENOENT") resolve(false);
      // A full backlog means that somebody listens.
      else if (error.code === "EAGAIN") resolve(true);
      else reject(error);
    });
  });
}
