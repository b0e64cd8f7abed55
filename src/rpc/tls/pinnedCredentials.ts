import type { Socket } from "node:net";
import { CallCredentials, ChannelCredentials } from "@grpc/grpc-js";
import { connectPinned } from "./pinnedConnect.js";
import type { PinnedConnectOptions } from "./pinnedConnect.js";

type CreateSecureConnector = ChannelCredentials["_createSecureConnector"];
type SecureConnector = ReturnType<CreateSecureConnector>;

/**
 * Channel credentials that present our leaf, where there is one, and accept a server by its pinned key alone, whatever its host name.
 *
 * A class of our own, because `createSsl` cannot do this: it needs the server's CA certificate beforehand while we
 * hold a pin only, and its `checkServerIdentity` hook is skipped for chains that do not verify. The three underscored
 * methods are what grpc-js itself subclasses; the exact version in package.json is what keeps them in place, and
 * `test/tls` fails if they move.
 *
 * The leaf is taken anew for each connection, so a channel outlives rotations. Composing with call credentials works.
 */
export class PinnedCredentials extends ChannelCredentials {
  readonly #options: PinnedConnectOptions;
  readonly #connecting = new Set<Socket>();
  #abandoned = false;

  /** @param options what to present, what to expect, and who is told */
  constructor(options: PinnedConnectOptions) {
    super();
    this.#options = options;
  }

  /**
   * Ends the handshakes that are under way, and lets no other begin: for the one client that had these credentials, when it is closed.
   * grpc-js would finish them, and the server do its part of the work for nobody.
   */
  abandon(): void {
    this.#abandoned = true;
    for (const socket of this.#connecting) socket.destroy();
  }

  /** Lets grpc-js send call credentials; the connector fulfils it or fails. */
  override _isSecure(): boolean {
    return true;
  }

  /** Channels share a connection only if they share this object, so that each observer sees its own verdicts. */
  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  /** Called once per subchannel; the connector then makes every connection of it. */
  override _createSecureConnector(
    ...[, , callCredentials = CallCredentials.createEmpty()]: Parameters<CreateSecureConnector>
  ): SecureConnector {
    return {
      connect: async (socket) => ({ socket: await this.#connect(socket), secure: true }),
      // Before the TCP connection is made: nobody listens to its socket until the handshake begins.
      waitForReady: async () => {
        await this.#options.leaves?.refresh();
      },
      getCallCredentials: () => callCredentials,
      destroy: () => undefined,
    };
  }

  async #connect(socket: Socket): Promise<Socket> {
    if (this.#abandoned) throw new Error("the client was closed");
    this.#connecting.add(socket);
    try {
      return await connectPinned(socket, this.#options);
    } finally {
      this.#connecting.delete(socket);
    }
  }
}

/** {@link PinnedCredentials} as a function, for callers that only need channel credentials. */
export function pinnedCredentials(options: PinnedConnectOptions): ChannelCredentials {
  return new PinnedCredentials(options);
}
