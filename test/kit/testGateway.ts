import { existsSync, rmSync } from "node:fs";

import type { Clock } from "../../src/base/clock.js";
import { createServeRooms } from "../../src/gateway/createServeRooms.js";
import { type Gateway, startGateway } from "../../src/gateway/gateway.js";
import type { GatewayContext, GatewayRooms } from "../../src/gateway/gatewayContext.js";
import type { SqlValue } from "../../src/store/sql.js";
import { type HomeFiles, writeHome } from "./homeFiles.js";
import { TurnClient } from "./turnClient.js";

/** How {@link startTestGateway} is told what to start. */
export interface TestGatewayOptions extends HomeFiles {
  /** A home that is there already; kept at the end. */
  readonly home?: string;
  /** The gateway's environment; default this process's. */
  readonly env?: NodeJS.ProcessEnv;
  readonly clock?: Clock;
}

/** A whole gateway in this process: real listeners, a real store and real worker processes. */
export interface TestGateway {
  readonly home: string;
  readonly gateway: Gateway;
  readonly context: GatewayContext;
  readonly rooms: GatewayRooms;
  /** The client that most tests use; others come from {@link connect}. */
  readonly client: TurnClient;
  /** What it has logged so far, a line each. */
  readonly log: readonly string[];
  /** A client with a connection of its own, closed with the gateway. */
  connect(): TurnClient;
  /** Reads the store. */
  rows<Row extends object>(sql: string, ...values: readonly SqlValue[]): Row[];
  /** The pids of the workers that are not proved gone. */
  workerPids(): readonly number[];
  /** Closes clients and gateway, and removes the home unless it was given. */
  close(): Promise<void>;
}

/** Starts a gateway on a home made for it. */
export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const home = options.home ?? writeHome(options);
  const log: string[] = [];
  const seen: { context?: GatewayContext; rooms?: GatewayRooms } = {};
  const gateway = await startGateway(
    {
      home,
      env: options.env ?? process.env,
      logDestination: { write: (line: string) => void log.push(line) },
      ...(options.clock === undefined ? {} : { clock: options.clock }),
    },
    (context) => {
      seen.context = context;
      seen.rooms = createServeRooms(context);
      return seen.rooms;
    },
  );
  const { context, rooms } = seen;
  if (context === undefined || rooms === undefined) throw new Error("the rooms were not made");
  const clients: TurnClient[] = [];
  const connect = (): TurnClient => {
    const client = new TurnClient(gateway.addresses.clientSocket);
    clients.push(client);
    return client;
  };
  return {
    home,
    gateway,
    context,
    rooms,
    client: connect(),
    log,
    connect,
    rows: (sql, ...values) => context.store.reader.all(sql, ...values),
    workerPids: () => rooms.owner.liveWorkers().map(({ pid }) => pid),
    async close() {
      for (const client of clients) client.close();
      await gateway.close();
      if (options.home === undefined && existsSync(home)) rmSync(home, { recursive: true, force: true });
    },
  };
}
