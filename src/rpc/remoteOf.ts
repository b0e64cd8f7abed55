import type { Socket } from "node:net";

/** Where a socket comes from: an address with a port. */
export function remoteOf(socket: Pick<Socket, "remoteAddress" | "remotePort">): string {
  return `${socket.remoteAddress ?? "unknown"}:${String(socket.remotePort ?? 0)}`;
}
