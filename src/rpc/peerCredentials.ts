import { createRequire } from "node:module";
import type koffi from "koffi";
import type { Socket } from "node:net";

/** What the kernel recorded about the process that connected to a Unix socket. */
export interface PeerCredentials {
  /** Process id, as seen from this process's namespace. */
  readonly pid: number;
  /** Effective user id at the time of connecting. */
  readonly uid: number;
  /** Effective group id at the time of connecting. */
  readonly gid: number;
}

type GetSocketOption = (fd: number, level: number, name: number, value: Buffer, length: [number]) => number;

const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
/** struct ucred: three 32-bit numbers. */
const UCRED_BYTES = 12;

/**
 * Asks the kernel (Linux: SO_PEERCRED, about 2 microseconds) who is at the other end of a Unix socket; undefined where the
 * system or the socket cannot say, which the caller must treat as a missing proof.
 */
export function peerCredentials(socket: Socket): PeerCredentials | undefined {
  if (process.platform !== "linux") return undefined;
  // Private to Node but long stable; nothing public gives the descriptor.
  const fd = (socket as unknown as { _handle?: { fd?: number } | null })._handle?.fd;
  if (fd === undefined || fd < 0) return undefined;
  const getsockopt = loadGetsockopt();
  if (getsockopt === undefined) return undefined;
  const value = Buffer.alloc(UCRED_BYTES);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, value, [UCRED_BYTES]) !== 0) return undefined;
  const pid = value.readInt32LE(0);
  // The kernel says 0 for a process outside this namespace.
  if (pid <= 0) return undefined;
  return { pid, uid: value.readUInt32LE(4), gid: value.readUInt32LE(8) };
}

let loaded: { readonly call: GetSocketOption | undefined } | undefined;

function loadGetsockopt(): GetSocketOption | undefined {
  loaded ??= { call: tryLoad() };
  return loaded.call;
}

function tryLoad(): GetSocketOption | undefined {
  try {
    // Loaded on first use: only listeners on a Unix socket need the native library.
    const library = createRequire(import.meta.url)("koffi") as typeof koffi;
    const libc = library.load("libc.so.6");
    const declaration = "int getsockopt(int fd, int level, int name, _Out_ uint8_t *value, _Inout_ uint32_t *length)";
    return libc.func(declaration) as GetSocketOption;
  } catch {
    return undefined;
  }
}
