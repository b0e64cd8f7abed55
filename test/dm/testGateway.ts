import type { Client } from "@grpc/grpc-js";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resolveBudgets, type Budgets } from "../../src/base/budgets.js";
import { systemClock, type Clock } from "../../src/base/clock.js";
import { homePaths } from "../../src/base/home.js";
import { newId } from "../../src/base/ids.js";
import { silentLogger } from "../../src/base/logger.js";
import { systemRandom } from "../../src/base/random.js";
import { createDm, type Dm } from "../../src/dm/createDm.js";
import { createPeerBook, type PeerBook } from "../../src/dm/peers/peerBook.js";
import type { AgentEntry, PeerEntry } from "../../src/dm/ports/directory.js";
import { createClient } from "../../src/rpc/clients/connectClient.js";
import { RpcError } from "../../src/rpc/rpcError.js";
import { startListener, type Listener } from "../../src/rpc/listener.js";
import { principalOfIdentity } from "../../src/rpc/principal.js";
import { ephemeralIdentity, type Identity } from "../../src/rpc/tls/identityKey.js";
import { leafSource } from "../../src/rpc/tls/leafCertificate.js";
import type { Pin } from "../../src/rpc/tls/pin.js";
import { pinnedCredentials } from "../../src/rpc/tls/pinnedCredentials.js";
import { authorizePeer, keepLeafFresh, serverTlsOptions } from "../../src/rpc/tls/serverTls.js";
import type { Tracer } from "../../src/rpc/tracing/tracer.js";
import { openStore, type Store } from "../../src/store/store.js";
import { createTurnRunner, type Answer } from "./turnRunner.js";

/** An agent with what messages ask of it. */
export function agentEntry(name: string, more: Partial<AgentEntry> = {}): AgentEntry {
  return { name, title: name, description: "", main: false, private: false, messaging: true, ...more };
}

/** Peers as a configuration names them; the book reads them again at each change. */
class PeerMap extends Map<string, PeerEntry> {
  readonly #changed: () => void;

  constructor(changed: () => void) {
    super();
    this.#changed = changed;
  }

  override set(name: string, peer: PeerEntry): this {
    super.set(name, peer);
    this.#changed();
    return this;
  }
}

/** What a test gateway is made of. */
export interface TestGatewayOptions {
  readonly name: string;
  /** Kept by the caller for a restart; default a fresh directory. */
  readonly home?: string;
  readonly identity?: Identity;
  /** Port of its peer listener; default a free one. */
  readonly peerPort?: number;
  readonly agents?: readonly AgentEntry[];
  readonly budgets?: Partial<Budgets>;
  readonly clock?: Clock;
  /** By which certificates are made and judged; default the system's. */
  readonly tlsClock?: Clock;
  /** What a turn answers; undefined leaves the input running. Default: the text in capitals. */
  readonly answer?: Answer;
  /** Whether inputs are run as they come; default true. */
  readonly running?: boolean;
  /** Takes the spans; default nobody. */
  readonly tracer?: Tracer;
}

/** Everything of a gateway that messages need, in this process: store, listeners, peers, and turns that need no worker. */
export interface TestGateway {
  readonly name: string;
  readonly home: string;
  readonly identity: Identity;
  readonly store: Store;
  readonly dm: Dm;
  /** A client on the Unix socket, an operator. */
  readonly client: Client;
  /** `host:port` of its peer listener. */
  readonly peerAddress: string;
  readonly listeners: readonly Listener[];
  /** Gateways that it knows; add with {@link introduce}. */
  readonly peers: Map<string, PeerEntry>;
  /** Every peer that it knows, the paired ones included. */
  readonly book: PeerBook;
  /** A client that calls its peer listener with another identity. */
  callerAs(identity: Identity): Promise<Client>;
  /** Starts what waits, and everything from here on. */
  run(): void;
  /** Starts transports. */
  start(): Promise<void>;
  /** Resolves with what `read` returns once that is not undefined; looks after each commit. */
  until<T>(what: string, read: () => T | undefined): Promise<T>;
  close(): Promise<void>;
}

/** A fresh directory with a short name. */
export function freshHome(): string {
  return mkdtempSync(join(tmpdir(), "dm-"));
}

/** Makes a test gateway; its transports wait for {@link TestGateway.start}. */
export async function testGateway(options: TestGatewayOptions): Promise<TestGateway> {
  const { name, agents = [agentEntry("alice", { main: true }), agentEntry("bob")], clock = systemClock } = options;
  const home = options.home ?? freshHome();
  mkdirSync(join(home, "run"), { recursive: true, mode: 0o700 });
  const now = (): number => (options.tlsClock ?? systemClock).now();
  const identity = options.identity ?? (await ephemeralIdentity(now()));
  const paths = homePaths(home);
  const log = silentLogger();
  const store = await openStore(paths, { clock });
  const peers = new PeerMap(() => {
    book.refresh();
  });
  const book = createPeerBook(store.reader, () => [...peers.values()]);
  const leaves = await leafSource(identity, now);
  const closers: (() => Promise<void> | void)[] = [];
  const runner = createTurnRunner(store, clock, options.answer, () => dm);
  if (options.running !== false) runner.resume();

  const traced = options.tracer === undefined ? {} : { tracer: options.tracer };
  const dm: Dm = createDm({
    gateway: name,
    version: "0.0.0",
    enabled: true,
    store,
    agents: { list: () => agents, get: (wanted) => agents.find((agent) => agent.name === wanted) },
    peers: book,
    ownPin: identity.pin,
    turns: { freezePolicy: (agent) => Buffer.from(agent), wake: runner.wake },
    connectPeer: (peer, onRefused) => {
      const credentials = pinnedCredentials({
        leaves,
        serverPin: peer.pin as Pin,
        now,
        onVerdict: ({ kind }) => {
          if (kind !== "known") onRefused?.(new RpcError("PEER_PIN_MISMATCH"));
        },
      });
      const client = createClient({ address: peer.address, purpose: "tcpStream", credentials, ownConnection: true });
      return { client, close: () => client.close() };
    },
    budgets: resolveBudgets({ peerRetryMinMs: 20, peerRetryMaxMs: 200, ...options.budgets }),
    log,
    clock,
    ...traced,
  });

  const clientListener = await startListener({
    name: `${name}-client`,
    services: dm.clientServices,
    authenticate: () => ({ kind: "client", name: "cli", role: "operator" }),
    transport: { kind: "unix", path: join(home, "run", "g.sock") },
    log,
    ...traced,
  });
  const peerListener = await startListener({
    name: `${name}-peer`,
    services: dm.peerServices,
    authenticate: ({ connection: { identity: presented } }) =>
      principalOfIdentity(presented === undefined ? undefined : book.identify(presented.pin as Pin)),
    transport: {
      kind: "tls",
      host: "127.0.0.1",
      port: options.peerPort ?? 0,
      tlsOptions: serverTlsOptions(leaves),
      onServer: (server) => keepLeafFresh(server, leaves),
      authorize: (socket) => {
        const verdict = authorizePeer(socket, book.pins, now());
        return verdict.kind === "refused" ? undefined : book.identify(verdict.pin);
      },
    },
    log,
    ...traced,
  });
  const listeners = [clientListener, peerListener];
  const client = createClient({ address: clientListener.address, purpose: "unix", ownConnection: true });
  let closed: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    await dm.drain();
    client.close();
    await Promise.all(listeners.map((listener) => listener.close()));
    for (const close of closers) await close();
    await dm.close();
    await runner.stop();
    await store.close();
  };
  return {
    name,
    home,
    identity,
    store,
    dm,
    client,
    peerAddress: peerListener.address,
    listeners,
    peers,
    book,
    async callerAs(caller) {
      const credentials = pinnedCredentials({ leaves: await leafSource(caller, now), serverPin: identity.pin, now });
      const made = createClient({ address: peerListener.address, purpose: "tcp", credentials, ownConnection: true });
      closers.push(() => made.close());
      return made;
    },
    run: () => runner.resume(),
    start: () => dm.start(),
    until(what, read) {
      return new Promise((resolve, reject) => {
        const cancel = systemClock.after(10_000, () => {
          stop();
          reject(new Error(`${name}: not reached: ${what}; deliveries: ${JSON.stringify(summary(store))}`));
        });
        const look = (): void => {
          const value = read();
          if (value === undefined) return;
          cancel();
          stop();
          resolve(value);
        };
        // A commit is reported before its commands are answered; reading one turn later sees it.
        const stop = store.writer.onCommit(() => setImmediate(look));
        look();
      });
    },
    close: () => (closed ??= end()),
  };
}

/** Makes two gateways know one another. */
export function introduce(a: TestGateway, b: TestGateway): void {
  a.peers.set(b.name, { name: b.name, address: b.peerAddress, pin: b.identity.pin });
  b.peers.set(a.name, { name: a.name, address: a.peerAddress, pin: a.identity.pin });
}

/** Removes a home. */
export function removeHome(home: string): void {
  rmSync(home, { recursive: true, force: true });
}

/** Inputs of an agent's `Bot Chat`, oldest first. */
export interface SeenInput {
  readonly text: string;
  readonly author: string;
  readonly attribution: string;
  readonly inReplyTo: string | null;
  readonly state: string;
  readonly depth: number;
}

/** Reads the inputs of an agent's `Bot Chat`. */
export function inputsOf({ store }: Pick<TestGateway, "store">, agent: string): readonly SeenInput[] {
  return store.reader.all<SeenInput>(
    `SELECT text, author_id AS author, attribution, in_reply_to AS inReplyTo, inputs.state AS state, depth
     FROM inputs JOIN sessions USING (session_id) WHERE agent = ? AND bot_chat = 1 ORDER BY sequence`,
    agent,
  );
}

/** A session id as turns have it. */
export function freshSessionId(): string {
  return newId("ses", systemRandom);
}

function summary(store: Store): unknown {
  return store.reader.all(
    `SELECT delivery_id, state, route, attempts, undecided, last_error, failure, recipient_agent FROM deliveries LIMIT 20`,
  );
}
