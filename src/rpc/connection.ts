import type { Socket } from "node:net";
import type { PeerCredentials } from "./peerCredentials.js";
import type { PeerIdentity } from "./peerIdentity.js";

/** One accepted connection of a listener. Ended by either side's socket. */
export interface Connection {
  /** Unique within the process's life, for example `owner-7`. */
  readonly id: string;
  /** Where it comes from, for logs: `unix` or an address with a port. */
  readonly remote: string;
  /** What the kernel says about the process at the other end; only on Unix sockets and where the system tells. */
  readonly peer?: PeerCredentials;
  /** Whose key was presented; only over TLS. */
  readonly identity?: PeerIdentity;
  /** Whether the socket has closed. */
  readonly closed: boolean;
  /** Runs `run` once the socket has closed, or at once if it has. @returns what takes the request back. */
  onClose(run: () => void): () => void;
  /** Cuts the connection with every call on it. */
  destroy(): void;
}

/** Where a connection comes from. */
export type ConnectionOrigin = Pick<Connection, "remote" | "peer" | "identity">;

/** The live connections of one listener. */
export interface Connections {
  /** The connection with an id, while it lives. */
  get(id: string): Connection | undefined;
  /** Every live connection, oldest first. */
  list(): readonly Connection[];
  /** Runs `run` once the connection has closed; at once if it is not live. @returns what takes the request back. */
  onClose(id: string, run: () => void): () => void;
}

/** The table of a listener, with the entrance that only the listener uses. */
export interface ConnectionTable extends Connections {
  /** Enters an accepted socket and marks it so that each of its calls can be traced back to the connection. */
  add(socket: Socket, origin: ConnectionOrigin): Connection;
}

/** Makes an empty table. Ids are `<name>-<number>`. */
export function createConnectionTable(name: string): ConnectionTable {
  const live = new Map<string, Connection>();
  let count = 0;
  return {
    get: (id) => live.get(id),
    list: () => [...live.values()],
    onClose(id, run) {
      const connection = live.get(id);
      if (connection !== undefined) return connection.onClose(run);
      run();
      return () => undefined;
    },
    add(socket, origin) {
      count += 1;
      const id = `${name}-${String(count)}`;
      const connection = watchSocket(id, socket, origin);
      live.set(id, connection);
      connection.onClose(() => live.delete(id));
      // grpc-js shows a call nothing of its socket but this property.
      Object.defineProperty(socket, "remoteAddress", { value: id });
      return connection;
    },
  };
}

function watchSocket(id: string, socket: Socket, origin: ConnectionOrigin): Connection {
  const waiting = new Set<() => void>();
  let closed = false;
  socket.once("close", () => {
    closed = true;
    for (const run of waiting) run();
    waiting.clear();
  });
  return {
    id,
    ...origin,
    get closed() {
      return closed;
    },
    onClose(run) {
      if (closed) {
        run();
        return () => undefined;
      }
      const once = (): void => {
        run();
      };
      waiting.add(once);
      return () => waiting.delete(once);
    },
    destroy() {
      socket.destroy();
    },
  };
}
