import type { Client } from "@grpc/grpc-js";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

import { createClient } from "../../src/rpc/clients/connectClient.js";
import { reasonError } from "../../src/rpc/rpcError.js";
import type { Gateway, GatewayOptions } from "../../src/gateway/gateway.js";
import { startGateway } from "../../src/gateway/gateway.js";
import type { GatewayContext, GatewayRooms } from "../../src/gateway/gatewayContext.js";

/** A fresh home that goes when the test ends, with the given `talaria.yaml`. */
export function temporaryHome(config = ""): string {
  const home = mkdtempSync(join(tmpdir(), "tg-"));
  onTestFinished(() => {
    rmSync(home, { recursive: true, force: true });
  });
  writeFileSync(join(home, "talaria.yaml"), `log_level: silent\n${config}`);
  return home;
}

function unknownPeer(): never {
  throw reasonError("UNKNOWN_PEER");
}

/** Rooms that run no turns and carry no messages, and what was asked of them. */
export function idleRooms(calls: string[] = []): GatewayRooms {
  const note = (call: string) => async (): Promise<void> => {
    calls.push(call);
  };
  return {
    owner: {
      workerServices: [],
      clientServices: [],
      authenticate: () => ({ kind: "anonymous" }),
      liveWorkers: () => [],
      turnsOf: () => [],
      sessionChanged: (sessionId) => {
        calls.push(`changed ${sessionId}`);
      },
      workers: () => [],
      counts: () => ({ inUse: 0, pooled: 0 }),
      onTurnTimes: () => () => undefined,
      recover: note("owner.recover"),
      start: () => {
        calls.push("owner.start");
      },
      prepare: () => {
        calls.push("owner.prepare");
      },
      drain: note("owner.drain"),
      close: note("owner.close"),
    },
    dm: {
      clientServices: [],
      peerServices: [],
      teammates: () => [],
      overview: {
        peers: () => [],
        peer: unknownPeer,
        destinations: () => [],
        destination: unknownPeer,
      },
      registry: {
        invite: unknownPeer,
        join: unknownPeer,
        update: unknownPeer,
        revoke: unknownPeer,
        hold: unknownPeer,
        release: unknownPeer,
        reset: unknownPeer,
        settleRevoked: note("dm.settleRevoked"),
      },
      start: note("dm.start"),
      drain: note("dm.drain"),
      close: note("dm.close"),
    },
  };
}

/** A gateway in this process whose rooms are idle, or as given; ended with the test. */
export async function useGateway(
  options: GatewayOptions & { readonly rooms?: (context: GatewayContext) => GatewayRooms } = {},
): Promise<{ readonly gateway: Gateway; readonly context: GatewayContext; readonly client: Client }> {
  let seen: GatewayContext | undefined;
  const gateway = await startGateway({ home: options.home ?? temporaryHome(), ...options }, (context) => {
    seen = context;
    return options.rooms?.(context) ?? idleRooms();
  });
  onTestFinished(() => gateway.close());
  if (seen === undefined) throw new Error("the rooms were not made");
  return { gateway, context: seen, client: useClientOf(gateway.addresses.clientSocket) };
}

/** A client of an address, closed with the test. */
export function useClientOf(address: string): Client {
  const client = createClient({ address, purpose: address.startsWith("unix:") ? "unix" : "tcp", ownConnection: true });
  onTestFinished(() => {
    client.close();
  });
  return client;
}
