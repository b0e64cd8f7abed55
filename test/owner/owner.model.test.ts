import fc from "fast-check";
import { rmSync } from "node:fs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { ensureHome } from "../../src/base/ensureHome.js";
import { homePaths } from "../../src/base/home.js";
import { FakeClock } from "../../src/base/testing/fakeClock.js";
import { seededRandom } from "../../src/base/testing/seededRandom.js";
import { StopCause } from "../../src/gen/talaria/owner/v1/owner_service.js";
import { TurnResult } from "../../src/gen/talaria/types/v1/result.js";
import type { Owner } from "../../src/owner/owner.js";
import { readStatus } from "../../src/store/queries/status.js";
import { sessionsToRun } from "../../src/store/queries/turns.js";
import { openStore, type Store } from "../../src/store/store.js";
import { acknowledgeUnknown } from "../../src/store/turns/acknowledgeUnknown.js";
import { cancelInput } from "../../src/store/turns/cancelInput.js";
import { writeHome } from "../kit/homeFiles.js";
import { WAIT_MS } from "../kit/waitFor.js";
import { bareOwner, queueInput } from "./bareOwner.js";
import { type PlayedWorker, PlayedWorkers } from "./playedWorkers.js";

/** Turns that run at once. */
const CAP = 2;
const SESSIONS = 3;
/** Turns of the loop in which everything that was begun has come to rest: there is no other I/O than the store's. */
const REST = 12;

type Step =
  | { readonly kind: "submit" | "cancel" | "stop" | "acknowledge"; readonly session: number }
  | {
      readonly kind: "on" | "tool" | "ask" | "settle" | "heartbeat" | "crash" | "garble" | "leave" | "deaf";
      readonly session: number;
    }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "restart"; readonly kill: boolean };

const session = fc.nat(SESSIONS - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("submit" as const), session }) },
  { weight: 14, arbitrary: fc.record({ kind: fc.constant("on" as const), session }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom("cancel", "stop", "acknowledge", "tool", "ask", "settle", "heartbeat"),
      session,
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("crash", "garble", "leave", "deaf"), session }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(10, 700, 6_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const), kill: fc.boolean() }) },
);

const rest = async (): Promise<void> => {
  for (let turn = 0; turn < REST; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A whole owner on a real store, with a clock that moves only when told and workers without processes. */
class World {
  readonly home = writeHome();
  readonly workers = new PlayedWorkers();
  readonly random = seededRandom(11);
  readonly sessions: string[] = [];
  /** Outcomes seen so far: none may ever change. */
  readonly outcomes = new Map<string, string>();
  store!: Store;
  owner!: Owner;
  clock!: FakeClock;
  #starts = 0;
  #requests = 0;

  async start(): Promise<void> {
    const paths = homePaths(this.home);
    ensureHome(paths);
    this.clock = new FakeClock(1_700_000_000_000 + this.#starts * 3_600_000);
    this.#starts += 1;
    this.store = await openStore(paths, { clock: this.clock, random: this.random });
    this.owner = bareOwner({
      home: this.home,
      store: this.store,
      clock: this.clock,
      random: this.random,
      table: this.workers.table,
      spawner: this.workers.spawn,
      maxWorkers: CAP,
      program: { command: ["played"], environment: {} },
    });
    await this.#driven("recovery", this.owner.recover());
    this.owner.start();
    await rest();
  }

  async submit(index: number): Promise<void> {
    const sessionId = this.sessions[index];
    this.#requests += 1;
    const queued = await queueInput(this.owner, `key-${String(this.#requests)}`, sessionId);
    if (sessionId === undefined) this.sessions[index] = queued.sessionId;
  }

  /** The worker of a session's turn. */
  workerOf(index: number): PlayedWorker | undefined {
    const turn = this.owner.turns().find(({ claimed }) => claimed.input.session_id === this.sessions[index]);
    const pid = turn?.launch?.process.pid;
    return this.workers.all.find((worker) => worker.pid === pid && worker.stage !== "dead");
  }

  async take(one: Step): Promise<void> {
    if (one.kind === "wait") return this.clock.advanceAsync(one.ms);
    if (one.kind === "restart") return this.restart(one.kill);
    if (one.kind === "submit") return this.submit(one.session);
    const sessionId = this.sessions[one.session];
    if (sessionId === undefined) return;
    const now = this.clock.now();
    const worker = this.workerOf(one.session);
    switch (one.kind) {
      case "cancel": {
        const [last] = this.store.reader.all<{ input_id: string }>(
          "SELECT input_id FROM inputs WHERE session_id = ? ORDER BY sequence DESC LIMIT 1",
          sessionId,
        );
        await this.store.writer.execute(cancelInput, { inputId: last?.input_id ?? "", now });
        return;
      }
      case "stop": {
        const turn = this.owner.turns().find(({ claimed }) => claimed.input.session_id === sessionId);
        turn?.stop(StopCause.STOP_CAUSE_CLIENT);
        return;
      }
      case "acknowledge":
        return this.acknowledge(sessionId);
      case "on":
        if (worker !== undefined) await this.on(worker);
        return;
      case "tool": {
        if (worker?.stage !== "running") return;
        const value = { toolCallId: "t", name: "tool", arguments: undefined, truncated: false };
        return worker.send({ $case: "events", value: { events: [{ event: { $case: "toolStarted", value } }] } });
      }
      case "ask":
        if (worker?.stage === "running") await worker.ask();
        return;
      case "settle": {
        const promptId = worker?.asked.shift();
        if (promptId !== undefined) await worker?.send({ $case: "promptSettled", value: { promptId, end: 0 } });
        return;
      }
      case "heartbeat":
        return worker?.send({ $case: "heartbeat", value: { loopDelayMs: 0, residentBytes: 0n, usage: undefined } });
      case "crash":
        return worker?.die({ code: 3, signal: null });
      case "garble":
        return worker?.send({ $case: "finished", value: {} }, 77n);
      case "leave":
        return worker?.die({ code: 0, signal: null });
      case "deaf":
        if (worker !== undefined) worker.deaf = true;
        return;
    }
  }

  /** Takes a worker one stage further. */
  async on(worker: PlayedWorker): Promise<void> {
    switch (worker.stage) {
      case "spawned":
        worker.attach(this.owner);
        return;
      case "attached":
        return worker.adopt(this.owner, this.store);
      case "adopted":
        await worker.send({ $case: "ready", value: { pid: worker.pid, model: "none" } });
        worker.come("adopted", "running");
        return;
      case "running": {
        const result = TurnResult.fromPartial({ finalResponse: "done", interrupted: worker.stopped });
        await worker.send({ $case: "result", value: { result } });
        worker.come("running", "given");
        return;
      }
      case "given":
        await worker.send({ $case: "finished", value: {} });
        worker.die({ code: 0, signal: null });
        return;
      case "dead":
        return;
    }
  }

  async acknowledge(sessionId: string): Promise<void> {
    const [row] = this.store.reader.all<{ paused: string | null }>(
      "SELECT paused_execution_id AS paused FROM sessions WHERE session_id = ?",
      sessionId,
    );
    if (typeof row?.paused !== "string") return;
    const executionId = row.paused;
    await this.store.writer.execute(acknowledgeUnknown, { sessionId, executionId, now: this.clock.now() });
    this.owner.wake([sessionId]);
  }

  /** Ends this start and begins the next one. @param kill whether it loses its store in the middle of what it does. */
  async restart(kill: boolean): Promise<void> {
    if (!kill) await this.#driven("the close", this.owner.close());
    await this.store.close();
    await this.start();
  }

  check(): void {
    const { reader } = this.store;
    const turns = this.owner.turns();
    const held = reader.all<{ id: string }>(
      "SELECT running_execution_id AS id FROM sessions WHERE running_execution_id IS NOT NULL",
    );
    expect(held.map(({ id }) => id).sort()).toEqual(turns.map(({ fence }) => fence.executionId).sort());
    expect(new Set(turns.map(({ claimed }) => claimed.input.session_id)).size).toBe(turns.length);
    const counting = turns.filter(({ desk }) => desk.openCount === 0).length;
    const { inUse } = this.owner.counts();
    expect(inUse).toBe(counting);
    // Idle and queued never both: where a place is free nobody waits for one.
    const busy = new Set(turns.map(({ claimed }) => claimed.input.session_id));
    const waiting = sessionsToRun(reader).filter((sessionId) => !busy.has(sessionId));
    if (inUse < CAP) expect(waiting).toEqual([]);
    const { admitted, queued, running, ended } = readStatus(reader).turns;
    expect(admitted).toBe(queued + running + ended);
    for (const { id, outcome } of this.#ended()) {
      expect(this.outcomes.get(id) ?? outcome).toBe(outcome);
      this.outcomes.set(id, outcome);
    }
    expect(this.#ended()).toHaveLength(this.outcomes.size);
  }

  /** Lets everything that waits run to its end. */
  async finish(): Promise<void> {
    for (let round = 0; round < 400; round += 1) {
      for (const sessionId of this.sessions) if (typeof sessionId === "string") await this.acknowledge(sessionId);
      await this.clock.advanceAsync(50);
      await rest();
      if (this.owner.turns().length === 0) break;
      for (const worker of this.workers.all) {
        for (const promptId of worker.asked.splice(0)) {
          await worker.send({ $case: "promptSettled", value: { promptId, end: 0 } });
        }
        await this.on(worker);
      }
      await rest();
      this.check();
    }
    const { admitted, ended } = readStatus(this.store.reader).turns;
    expect(ended).toBe(admitted);
    expect(this.outcomes.size).toBe(admitted);
    expect(this.owner.counts()).toEqual({ inUse: 0, pooled: 0 });
    const rows = this.store.reader.all<{ session_id: string; started_at: number; generation: number }>(
      `SELECT inputs.session_id, started_at, generation FROM inputs
       JOIN executions USING (execution_id) ORDER BY inputs.session_id, sequence`,
    );
    // In each session inputs ran in the order of their arrival, one generation each.
    expect(rows).toEqual(
      [...rows].sort((a, b) =>
        a.session_id < b.session_id ? -1 : a.session_id > b.session_id ? 1 : a.generation - b.generation,
      ),
    );
    await this.clock.advanceAsync(120_000);
    expect(this.clock.pending).toBe(0);
    expect(this.workers.table.list()).toEqual([]);
  }

  async close(): Promise<void> {
    await this.#driven("the close", this.owner.close());
    await this.store.close();
    rmSync(this.home, { recursive: true, force: true });
  }

  /** Waits for what itself waits for the clock. */
  async #driven(what: string, work: Promise<unknown>): Promise<void> {
    const progress = { over: false };
    const done = work.finally(() => {
      progress.over = true;
    });
    const deadline = performance.now() + WAIT_MS;
    while (!progress.over) {
      if (performance.now() > deadline) throw new Error(`no end of ${what}`);
      await this.clock.advanceAsync(50);
    }
    await done;
  }

  #ended(): { readonly id: string; readonly outcome: string }[] {
    return this.store.reader.all("SELECT input_id AS id, outcome FROM inputs WHERE state = 'ended'");
  }
}

let world: World;
beforeEach(() => {
  const system = process.kill.bind(process);
  vi.spyOn(process, "kill").mockImplementation((pid, signal) =>
    pid < -1_000_000 ? world.workers.kill(pid, signal) : system(pid, signal),
  );
});
afterEach(() => {
  vi.restoreAllMocks();
});

test("LG-5 TE-4 in any order of submit, cancel, start, stop, prompt, loss, end and restart: one outcome an input, one turn a session, no lost slot", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80, size: "max" }), async (steps) => {
      world = new World();
      try {
        await world.start();
        for (const one of steps) {
          await world.take(one);
          await rest();
          world.check();
        }
        await world.finish();
      } finally {
        await world.close();
      }
    }),
    { numRuns: 15 },
  );
}, 90_000);
