import { systemClock } from "../../src/base/clock.js";
import { pause } from "../../src/base/pause.js";
import { systemRandom } from "../../src/base/random.js";
import { backoffMs } from "../../src/dm/retryPolicy.js";
import { PeerServiceService } from "../../src/gen/talaria/dm/v1/peer_service.js";
import { createClient } from "../../src/rpc/clients/connectClient.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { RpcError } from "../../src/rpc/rpcError.js";
import type { LeafSource } from "../../src/rpc/tls/leafCertificate.js";
import type { Pin } from "../../src/rpc/tls/pin.js";
import { pinnedCredentials } from "../../src/rpc/tls/pinnedCredentials.js";
import { deliverRequest } from "../dm/calls.js";

/** As the budgets have it, but for the longest wait, which is for peers that stay away. */
export const BACKOFF = { minMs: 1_000, maxMs: 30_000 };
/** How long a gateway may take to say who it is, as the link has it. */
const GREETING_MS = 10_000;
const now = (): number => systemClock.now();

/** Where peers come to. */
export interface PeerHub {
  readonly address: string;
  readonly pin: Pin;
}

/** A peer that watches its receipts as a link does: over and over, each time over a connection of its own. */
export class WatchingPeer {
  attempts = 0;
  connections = 0;
  readonly #leaves: LeafSource;
  readonly #stop = new AbortController();
  readonly #changed: () => void;
  /** Waits until this peer may begin to connect: those of one process share the processor that each would have for itself. */
  readonly #turn: () => Promise<void>;
  /** Makes the key of the message that it brings with its nth connection; undefined for none. */
  readonly #keyOf: (connection: number) => string | undefined;
  #running: Promise<void> = Promise.resolve();
  #up = false;

  constructor(
    leaves: LeafSource,
    changed: () => void,
    turn: () => Promise<void>,
    keyOf: (connection: number) => string | undefined,
  ) {
    this.#leaves = leaves;
    this.#changed = changed;
    this.#turn = turn;
    this.#keyOf = keyOf;
  }

  /** Whether its watch is open. */
  get up(): boolean {
    return this.#up;
  }

  start(hub: PeerHub, afterMs = 0): void {
    this.#running = this.#run(hub, afterMs);
  }

  async close(): Promise<void> {
    this.#stop.abort(new RpcError("CANCELLED"));
    await this.#running;
  }

  async #run({ address, pin: serverPin }: PeerHub, afterMs: number): Promise<void> {
    const { signal } = this.#stop;
    const wait = (ms: number): Promise<void> => pause(systemClock, ms, signal, () => undefined);
    await wait(afterMs);
    const leaves = this.#leaves;
    for (let failures = 0; !signal.aborted;) {
      await this.#turn();
      this.attempts += 1;
      const credentials = pinnedCredentials({ leaves, serverPin, now });
      const client = createClient({ address, purpose: "tcpStream", credentials, ownConnection: true });
      const silent = new AbortController();
      const heard = systemClock.after(GREETING_MS, () => silent.abort(new RpcError("CONNECT_TIMEOUT")));
      try {
        const request = { caller: undefined, cursor: undefined };
        const watch = readStream(client, PeerServiceService.watchReceipts, request, {
          signal: AbortSignal.any([signal, silent.signal]),
        });
        for await (const { update } of watch) {
          if (update?.$case !== "info") continue;
          heard();
          failures = 0;
          this.connections += 1;
          const key = this.#keyOf(this.connections);
          if (key !== undefined) await unaryCall(client, PeerServiceService.deliverDm, deliverRequest(key));
          this.#set(true);
        }
      } catch (caught) {
        if (!(caught instanceof RpcError)) throw caught;
      } finally {
        heard();
        this.#set(false);
        client.close();
      }
      failures += 1;
      await wait(backoffMs({ ...BACKOFF, failures, fraction: systemRandom.fraction() }));
    }
  }

  #set(up: boolean): void {
    this.#up = up;
    this.#changed();
  }
}
