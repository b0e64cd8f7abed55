import type { Http2Server, ServerHttp2Session } from "node:http2";
import type { Server } from "@grpc/grpc-js";

/**
 * Gives every connection of a server, and each of its streams, a receive window of `bytes` where HTTP/2 has 64 KiB, so that a sender
 * need not wait in the middle of a batch for a loop that is busy with the one before. To be called once the server's injector exists.
 *
 * grpc-js has an option for that on the client alone (grpc-node PR #3058); the field that is read here is its own, the exact version
 * in package.json keeps it in place, and `test/rpc` fails if it moves.
 */
export function widenReceiveWindow(server: Server, bytes: number): void {
  const { http2Servers } = server as unknown as { readonly http2Servers: ReadonlyMap<Http2Server, unknown> };
  for (const inner of http2Servers.keys()) {
    inner.on("session", (session: ServerHttp2Session) => {
      if (session.destroyed) return;
      session.settings({ initialWindowSize: bytes });
      session.setLocalWindowSize(bytes);
    });
  }
}
