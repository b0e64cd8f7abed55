import { z } from "zod";

import { VERSION } from "../../base/version.js";
import { gatewayInfo } from "../../dm/gatewayInfo.js";
import type { Duration } from "../../gen/google/protobuf/duration.js";
import { AdminServiceService } from "../../gen/talaria/gateway/v1/admin_service.js";
import type { ServiceImplementation } from "../../rpc/harness/implementService.js";
import { implementService } from "../../rpc/harness/implementService.js";
import { defineServerStream, defineUnary } from "../../rpc/harness/methods.js";
import { readStoreId } from "../../store/deliveries/storeId.js";
import { readStatus } from "../../store/queries/status.js";
import { type DeliveryTotals, readDeliveryTotals } from "../../store/deliveries/deliveryTotals.js";
import { requestIdField } from "../edge/fields.js";
import { fromDuration, toDuration, toTimestamp } from "../../rpc/wire/times.js";
import { backupMethod } from "../storage/backupMethod.js";
import { storageProblems } from "../storage/storageProblems.js";
import { agentProblems, reloadMethod } from "../agents/reloadAgents.js";
import type { GatewayContext, GatewayRooms } from "../gatewayContext.js";
import type { GatewayControl } from "../gatewayControl.js";
import type { OpenListener } from "../gatewayListeners.js";
import { pauseFailure } from "../usage/pauseError.js";
import { usageMethods } from "../usage/usageMethods.js";
import { peerMethods } from "./peerMethods.js";

/** What {@link createAdminService} shows and steers. */
export interface AdminServiceOptions {
  readonly rooms: GatewayRooms;
  readonly control: GatewayControl;
  readonly listeners: () => readonly OpenListener[];
}

/** Makes AdminService. */
export function createAdminService(
  context: GatewayContext,
  { rooms, control, listeners }: AdminServiceOptions,
): ServiceImplementation {
  const { store, config, budgets, clock, paths, leaves, events, loopDelay, spending } = context;
  const startedAt = toTimestamp(clock.now());
  const identity = { name: config.name, version: VERSION, storeId: readStoreId(store.reader) };
  const running = (): number => readStatus(store.reader).turns.running;

  return implementService(AdminServiceService, {
    getStatus: defineUnary({
      schema: z.object({}),
      async handle() {
        const { counts, deliveries } = store.reader.snapshot((at) => ({
          counts: readStatus(at),
          deliveries: deliveryCounts(readDeliveryTotals(at)),
        }));
        const workers = rooms.owner.counts();
        return {
          info: gatewayInfo(identity, budgets, clock.now()),
          epoch: BigInt(store.epoch),
          startedAt,
          pid: process.pid,
          home: paths.root,
          pin: leaves.identity.pin,
          draining: control.stopAt !== undefined,
          listeners: listeners().map(({ name, services, listener }) => ({
            name,
            address: listener.address,
            services: [...services],
            connections: listener.connections.list().length,
          })),
          turns: bigints(counts.turns),
          deliveries: bigints(deliveries),
          workersInUse: workers.inUse,
          workersMax: config.workers.max,
          workersPooled: workers.pooled,
          openPrompts: counts.openPrompts,
          pausedSessions: counts.pausedSessions,
          loopDelayP99: toDuration(loopDelay.p99Ms()),
          problems: [
            ...storageProblems(context),
            ...agentProblems(context),
            ...spending.pauses().map((pause) => pauseFailure(pause, clock.now())),
          ],
        };
      },
    }),
    listWorkers: defineUnary({
      schema: z.object({}),
      handle: async () => ({ workers: [...rooms.owner.workers()] }),
    }),
    watchEvents: defineServerStream({
      handle: ({ cursor }, { signal }) => events.watch(cursor, signal),
    }),
    listPeers: defineUnary({
      schema: z.object({}),
      handle: async () => ({ peers: [...rooms.dm.overview.peers()] }),
    }),
    listDestinations: defineUnary({
      schema: z.object({}),
      handle: async () => ({ destinations: [...rooms.dm.overview.destinations()] }),
    }),
    ...peerMethods(rooms.dm, listeners),
    ...usageMethods(context),
    reload: reloadMethod(context),
    backup: backupMethod(context),
    drain: defineUnary({
      schema: z.object({
        requestId: requestIdField,
        budget: z.object({ seconds: z.bigint(), nanos: z.int() }).refine(isBudget, "must be 0 s to 24 h").optional(),
      }),
      async handle({ budget }, { log }) {
        const graceMs = fromDuration(budget) ?? budgets.drainMs;
        const stillRunning = running();
        control.drain(graceMs).catch((error: unknown) => {
          log.error({ err: error }, "draining failed");
        });
        return { stopAt: toTimestamp(control.stopAt ?? clock.now() + graceMs), running: stillRunning };
      },
    }),
  });
}

function deliveryCounts({ accepted, states }: DeliveryTotals) {
  const { queued, claimed } = states;
  return { accepted, queued, claimed, ended: accepted - queued - claimed };
}

function isBudget(budget: Duration): boolean {
  const ms = fromDuration(budget) ?? -1;
  return ms >= 0 && ms <= 86_400_000;
}

function bigints<Key extends string>(counts: Readonly<Record<Key, number>>): Record<Key, bigint> {
  return Object.fromEntries(Object.entries<number>(counts).map(([name, count]) => [name, BigInt(count)])) as Record<
    Key,
    bigint
  >;
}
