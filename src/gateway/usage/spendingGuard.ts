import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import { nextUtcDay, utcDay } from "../../base/utcDay.js";
import type { TurnGate } from "../../owner/admission/turnGate.js";
import type { Store } from "../../store/store.js";
import { notePause, noteResume } from "../../store/usage/noteBudget.js";
import { pausedAgents, usageOfDay } from "../../store/usage/usageDays.js";
import type { AgentDirectory } from "../agents/agentDirectory.js";
import { budgetReached } from "./budgetReached.js";
import { type AgentPause, pauseError } from "./pauseError.js";

/** Longest time between two looks while an agent is paused, milliseconds: wall time may jump, and a machine may sleep. */
export const PAUSE_LOOK_MS = 60_000;

/** What {@link createSpendingGuard} needs. */
export interface SpendingGuardOptions {
  readonly store: Pick<Store, "reader" | "writer">;
  readonly agents: Pick<AgentDirectory, "get" | "list" | "invalid">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What a guard tells. */
export interface SpendingListeners {
  /** An agent is paused; once for each pause, also over restarts. */
  readonly paused: (pause: AgentPause) => void;
  /** An agent may go on. */
  readonly resumed: (agent: string) => void;
}

/** Pauses agents that have used up their budget of the UTC day. */
export interface SpendingGuard extends TurnGate {
  /** The pause of an agent; undefined where it may begin turns. */
  pauseOf(agent: string): AgentPause | undefined;
  /** Every pause, by the agent's name. */
  pauses(): readonly AgentPause[];
  /** Looks at every agent with a budget: whenever a budget, a lift or the day may have changed. */
  look(): void;
  /** Says whom to tell; those who were told before are told no more. */
  listen(listeners: SpendingListeners): void;
  /** Looks no more. */
  stop(): void;
}

/**
 * Makes a guard. Whether an agent is paused follows from what the store has of the day and from the agents' files as they were last
 * read; what is kept in memory is only whom to tell.
 */
export function createSpendingGuard({ store, agents, clock, log }: SpendingGuardOptions): SpendingGuard {
  const told = new Set<string>();
  let listeners: SpendingListeners = { paused: () => undefined, resumed: () => undefined };
  let cancel = (): void => undefined;
  let stopped = false;

  const isInvalid = (agent: string): boolean => agents.invalid().some(({ name }) => name === agent);
  const pauseOf = (agent: string): AgentPause | undefined => {
    const budget = agents.get(agent)?.budget;
    const bounded = budget?.tokensPerDay !== undefined || budget?.costUsdPerDay !== undefined;
    if (!bounded && (budget !== undefined || !isInvalid(agent))) return undefined;
    const now = clock.now();
    const used = usageOfDay(store.reader, agent, utcDay(now));
    const pause = { agent, until: nextUtcDay(now) };
    // A mistake in the file ends no pause: what waits would start, and fail for it.
    if (budget === undefined)
      return used === undefined || used.pausedAt === null ? undefined : { ...pause, reached: undefined };
    const reached = budgetReached(budget, used);
    return reached === undefined ? undefined : { ...pause, reached };
  };
  const pauses = (): readonly AgentPause[] =>
    [...agents.list(), ...agents.invalid()].flatMap(({ name }) => pauseOf(name) ?? []);

  const pause = async (found: AgentPause): Promise<void> => {
    const { agent, reached } = found;
    told.add(agent);
    try {
      const now = clock.now();
      if (!(await store.writer.execute(notePause, { agent, day: utcDay(now), now }))) return;
      log.warn({ agent, ...reached }, "an agent has reached its budget of the day and is paused");
      listeners.paused(found);
    } catch (error) {
      told.delete(agent);
      log.warn({ err: error, agent }, "a pause could not be noted; it holds all the same");
    }
  };
  const resume = async (agent: string): Promise<void> => {
    const known = told.delete(agent);
    try {
      const noted = await store.writer.execute(noteResume, { agent, day: utcDay(clock.now()) });
      if (!known && !noted) return;
      log.info({ agent }, "an agent is no longer paused");
      listeners.resumed(agent);
    } catch (error) {
      if (known) told.add(agent);
      log.warn({ err: error, agent }, "the end of a pause could not be noted; trying again");
      arm();
    }
  };
  const look = (): void => {
    if (stopped) return;
    const found = new Map(pauses().map((one) => [one.agent, one]));
    for (const one of found.values()) if (!told.has(one.agent)) void pause(one);
    const noted = pausedAgents(store.reader, utcDay(clock.now()));
    for (const agent of new Set([...told, ...noted])) if (!found.has(agent)) void resume(agent);
    arm();
  };
  /** Looks again by itself for as long as an agent is paused. */
  const arm = (): void => {
    cancel();
    if (stopped || told.size === 0) return;
    cancel = clock.after(Math.min(PAUSE_LOOK_MS, nextUtcDay(clock.now()) - clock.now()), guardedLook);
  };
  const guardedLook = (): void => {
    try {
      look();
    } catch (error) {
      log.warn({ err: error }, "what agents have used cannot be read");
    }
  };

  return {
    pauseOf,
    pauses,
    look,
    closedFor(agent) {
      const found = pauseOf(agent);
      if (found === undefined) return undefined;
      if (!told.has(agent)) guardedLook();
      return pauseError(found, clock.now());
    },
    turnEnded(agent) {
      if (told.has(agent)) return;
      try {
        if (pauseOf(agent) !== undefined) look();
      } catch (error) {
        log.warn({ err: error, agent }, "what an agent has used cannot be read");
      }
    },
    listen(given) {
      listeners = given;
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}
