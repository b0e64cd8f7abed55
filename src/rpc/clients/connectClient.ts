import { Client, connectivityState, credentials, type ChannelCredentials } from "@grpc/grpc-js";
import { systemClock, type Clock } from "../../base/clock.js";
import { channelOptions, type ChannelSettings } from "../channelOptions.js";
import { RpcError } from "../rpcError.js";
import { checkSocketPath } from "../socketPath.js";
import type { PinnedCredentials } from "../tls/pinnedCredentials.js";
import { cancellation } from "./callOptions.js";

/** Time for a connection to become ready, milliseconds. A stopped process accepts connections but never answers. */
export const DEFAULT_CONNECT_TIMEOUT_MS = 5_000;

/** How a client reaches its server. */
export interface ClientSettings extends ChannelSettings {
  /** `unix:<path>` or `<host>:<port>`. */
  readonly address: string;
  /** Default: no TLS. Pinned ones go with one client, where that has a connection of its own: closing it ends them. */
  readonly credentials?: ChannelCredentials;
}

/** How long and how stubbornly {@link connectClient} tries. */
export interface ConnectSettings extends ClientSettings {
  /** Milliseconds; default {@link DEFAULT_CONNECT_TIMEOUT_MS}. */
  readonly timeoutMs?: number;
  /** Whether a refused connection is tried again until the time is up; default false. */
  readonly retry?: boolean;
  /** Ends the attempt. */
  readonly signal?: AbortSignal;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/**
 * Makes a client that connects at its first call; one client calls every service of its address. Its owner cancels the calls
 * and then closes it. @throws RpcError SOCKET_PATH_TOO_LONG.
 */
export function createClient({ address, credentials: given, ...settings }: ClientSettings): Client {
  if (address.startsWith("unix:")) checkSocketPath(address.slice("unix:".length).replace(/^\/\/(?=\/)/, ""));
  const client = new Client(address, given ?? credentials.createInsecure(), channelOptions(settings));
  if (settings.ownConnection === true && isPinned(given)) {
    const close = client.close.bind(client);
    client.close = () => {
      close();
      given.abandon();
    };
  }
  return client;
}

/** Told by what it can do, so that who has no TLS does not load it. */
function isPinned(given: ChannelCredentials | undefined): given is PinnedCredentials {
  return given !== undefined && "abandon" in given;
}

/**
 * Makes a client and waits until it is connected.
 * @throws RpcError CONNECT_TIMEOUT, UNAVAILABLE (refused), CANCELLED or SOCKET_PATH_TOO_LONG; the client is closed then.
 */
export async function connectClient(settings: ConnectSettings): Promise<Client> {
  const client = createClient(settings);
  try {
    await untilReady(client, settings);
    return client;
  } catch (caught) {
    client.close();
    throw caught;
  }
}

function untilReady(client: Client, settings: ConnectSettings): Promise<void> {
  const { address, signal, retry = false, timeoutMs = DEFAULT_CONNECT_TIMEOUT_MS, clock = systemClock } = settings;
  return new Promise<void>((resolve, reject) => {
    const channel = client.getChannel();
    let over = false;
    const finish = (error: RpcError | undefined): void => {
      if (over) return;
      over = true;
      cancelTimer();
      signal?.removeEventListener("abort", onAbort);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onAbort = (): void => {
      if (signal !== undefined) finish(cancellation(signal));
    };
    const cancelTimer = clock.after(timeoutMs, () => {
      const message = `Nothing answered at ${address} within ${String(timeoutMs)} ms.`;
      finish(new RpcError("CONNECT_TIMEOUT", { message }));
    });
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    const look = (): void => {
      if (over) return;
      const state = channel.getConnectivityState(true);
      if (state === connectivityState.READY) finish(undefined);
      else if (state === connectivityState.TRANSIENT_FAILURE && !retry) {
        finish(new RpcError("UNAVAILABLE", { message: `Nothing could be reached at ${address}.` }));
      } else channel.watchConnectivityState(state, Infinity, look);
    };
    look();
  });
}
