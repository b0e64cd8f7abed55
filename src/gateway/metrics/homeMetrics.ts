import { Counter, Gauge, type Registry } from "prom-client";

import type { Clock } from "../../base/clock.js";
import { BreakerState } from "../../gen/talaria/gateway/v1/admin_service.js";
import { DELIVERY_STATES } from "../../store/deliveries/deliveryState.js";
import { readDeliveryTotals } from "../../store/deliveries/deliveryTotals.js";
import { readOldestWaiting } from "../../store/queries/oldestWaiting.js";
import { readStatus } from "../../store/queries/status.js";
import { readTurnOutcomes } from "../../store/queries/turnOutcomes.js";
import type { Reader } from "../../store/reader.js";
import type { GatewayRooms } from "../gatewayContext.js";

/** What {@link homeMetrics} reads from. */
export interface HomeMetricsParts {
  readonly reader: Reader;
  readonly rooms: GatewayRooms;
  readonly clock: Clock;
  /** Turns that may run at once. */
  readonly workersMax: number;
  /** Agents that are paused because their budget of the day is reached. */
  readonly agentsPaused: () => number;
}

/** A breaker as a number that rises with the trouble. */
const BREAKERS: Readonly<Partial<Record<BreakerState, number>>> = {
  [BreakerState.BREAKER_STATE_CLOSED]: 0,
  [BreakerState.BREAKER_STATE_HALF_OPEN]: 1,
  [BreakerState.BREAKER_STATE_OPEN]: 2,
};

/**
 * Registers what a home's store and rooms know. Everything is read when it is asked for: the counters are kept in the store with
 * the facts they count, so they go on over restarts, and `accepted` is the sum of the states at every sample.
 * @returns a function that reads them all in one state of the store; call it before each scrape.
 */
export function homeMetrics(registry: Registry, parts: HomeMetricsParts): () => void {
  const { reader, rooms, clock, workersMax, agentsPaused } = parts;
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]): Counter<Label> =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]): Gauge<Label> =>
    new Gauge({ name, help, labelNames, registers });

  const admitted = counter(
    "talaria_turns_admitted_total",
    "Inputs ever admitted; the sum of ended, queued and running.",
  );
  const ended = counter("talaria_turns_ended_total", "Turns that ended, by outcome and reason.", "outcome", "reason");
  const turns = gauge("talaria_turns", "Turns that have not ended, by state.", "state");
  const oldest = gauge("talaria_oldest_waiting_seconds", "Age of the oldest of what waits; 0 for none.", "what");
  const workers = gauge("talaria_workers", "Worker slots in use and idle pooled workers.", "state");
  const slots = gauge("talaria_worker_slots", "Turns that may run at once.");
  const prompts = gauge("talaria_prompts_open", "Prompts that wait for an answer.");
  const paused = gauge("talaria_sessions_paused", "Sessions paused behind an unknown outcome.");
  const agents = gauge("talaria_agents_paused", "Agents paused because their budget of the day is reached.");
  const accepted = counter("talaria_deliveries_accepted_total", "Messages ever accepted; the sum of all states.");
  const deliveries = gauge("talaria_deliveries", "Messages by state, forgotten ones included.", "state");
  const attempts = counter(
    "talaria_delivery_attempts_failed_total",
    "Attempts to reach another gateway, or to hand it a message, that failed.",
  );
  const bodies = gauge("talaria_delivery_body_bytes", "Bytes of message bodies that are kept.");
  const waiting = gauge("talaria_destination_waiting", "Messages that wait for a gateway.", "destination");
  const claimed = gauge("talaria_destination_claimed", "Messages that a gateway has accepted.", "destination");
  const failures = gauge("talaria_destination_failures", "Failed attempts in a row.", "destination");
  const breaker = gauge("talaria_destination_breaker", "0 closed, 1 half open, 2 open.", "destination");
  const held = gauge("talaria_destination_held", "1 where an operator holds it.", "destination");
  const ahead = gauge(
    "talaria_destination_clock_ahead_seconds",
    "How far its clock is ahead of this gateway's; where it is known.",
    "destination",
  );
  slots.set(workersMax);

  return () => {
    const now = clock.now();
    const { counts, outcomes, totals, since } = reader.snapshot((at) => ({
      counts: readStatus(at),
      outcomes: readTurnOutcomes(at),
      totals: readDeliveryTotals(at),
      since: readOldestWaiting(at),
    }));
    for (const one of [admitted, ended, accepted, attempts]) one.reset();
    admitted.inc(counts.turns.admitted);
    for (const { outcome, reason, turns: number } of outcomes) ended.inc({ outcome, reason }, number);
    turns.set({ state: "queued" }, counts.turns.queued);
    turns.set({ state: "running" }, counts.turns.running);
    for (const what of ["input", "prompt", "delivery"] as const) {
      const at = since[what];
      oldest.set({ what }, at === undefined ? 0 : Math.max(0, now - at) / 1_000);
    }
    const { inUse, pooled } = rooms.owner.counts();
    workers.set({ state: "in_use" }, inUse);
    workers.set({ state: "pooled" }, pooled);
    prompts.set(counts.openPrompts);
    paused.set(counts.pausedSessions);
    agents.set(agentsPaused());
    accepted.inc(totals.accepted);
    attempts.inc(totals.failedAttempts);
    for (const state of DELIVERY_STATES) deliveries.set({ state }, totals.states[state]);
    bodies.set(totals.bodyBytes);
    for (const one of [waiting, claimed, failures, breaker, held, ahead]) one.reset();
    for (const { name: destination, ...known } of rooms.dm.overview.destinations()) {
      waiting.set({ destination }, Number(known.waiting));
      claimed.set({ destination }, Number(known.claimed));
      failures.set({ destination }, known.failures);
      breaker.set({ destination }, BREAKERS[known.breaker] ?? 0);
      held.set({ destination }, known.heldAt === undefined ? 0 : 1);
    }
    for (const { name: destination, clock: theirs } of rooms.dm.overview.peers()) {
      if (theirs !== undefined) ahead.set({ destination }, Number(theirs.aheadMs) / 1_000);
    }
  };
}
