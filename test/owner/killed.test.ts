import { DatabaseSync } from "@photostructure/sqlite";
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";

import { loadAgents } from "../../src/base/testing/loadAgents.js";
import { ensureHome } from "../../src/base/ensureHome.js";
import { homePaths } from "../../src/base/home.js";
import { isAlive, readProcess } from "../../src/base/processTable.js";
import { TurnPhase } from "../../src/gen/talaria/gateway/v1/turn_service.js";
import { ApprovalRequest } from "../../src/gen/talaria/types/v1/prompt.js";
import { Policy } from "../../src/gen/talaria/types/v1/policy.js";
import { createAgentDirectory } from "../../src/gateway/agents/agentDirectory.js";
import { freezePolicy } from "../../src/owner/policy/freezePolicy.js";
import { defineCommand } from "../../src/store/command.js";
import { openStore } from "../../src/store/store.js";
import { fresh, TurnBench } from "../../src/store/turns/testing/turnBench.js";
import type { ForeignWorker } from "../kit/foreignWorkers.js";
import { keepResult } from "../kit/keepResult.js";
import { rowsOf, ServeProcess } from "../kit/serveProcess.js";
import { sessionOf, type UpdateLog } from "../kit/turnClient.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { launchesOf, useServe } from "../kit/useServe.js";
import { untilBusy } from "../kit/untilBusy.js";
import { WAIT_MS, waitFor, waitUntil } from "../kit/waitFor.js";

const workers = useForeignWorkers();
const fixture = useServe();
const foreign = { runtime: "command", worker: { command: workers.command } };

/** Limit of a test that starts several gateways on a busy machine, milliseconds. */
const LIMIT_MS = 90_000;

/** Played workers stand still until all of them have come to their place; none is given up meanwhile. */
const PATIENT = { helloMs: 60_000, heartbeatMissedMs: 60_000 };

/** A turn whose worker the test plays. */
interface Played {
  readonly run: UpdateLog;
  readonly worker: ForeignWorker;
}

/** What a worker does as long as its gateway runs, and once that is stopped, before it is killed. */
interface Place {
  readonly come: (turn: Played) => Promise<unknown>;
  readonly alone?: (turn: Played) => void;
  /** The outcome that the next start records; `again`: none, because nothing had started, and the turn runs. */
  readonly outcome: "UNKNOWN OWNER_LOST" | "COMPLETED " | "again";
}

async function run({ run: log, worker }: Played): Promise<void> {
  await worker.running();
  await log.reached(TurnPhase.TURN_PHASE_RUNNING);
}

async function giveResult(turn: Played): Promise<void> {
  await run(turn);
  turn.worker.result({ finalResponse: "given" });
  await turn.worker.next("finish");
}

const PLACES: Readonly<Record<string, Place>> = {
  spawned: { come: ({ worker }) => worker.connected(), outcome: "again" },
  bootstrapped: { come: ({ worker }) => worker.bootstrapped(), outcome: "again" },
  adopted: {
    come: async ({ worker }) => {
      await worker.bootstrapped();
      await worker.adopt();
    },
    outcome: "UNKNOWN OWNER_LOST",
  },
  running: { come: run, outcome: "UNKNOWN OWNER_LOST" },
  "a tool call open": {
    come: async (turn) => {
      await run(turn);
      turn.worker.startTool("call");
      await turn.run.next("events");
    },
    outcome: "UNKNOWN OWNER_LOST",
  },
  "a prompt open": {
    come: async (turn) => {
      await run(turn);
      const request = ApprovalRequest.fromPartial({ command: "rm", description: "removes" });
      turn.worker.send({ $case: "approval", value: { promptId: "p", request } });
      await turn.run.next("promptRaised");
    },
    outcome: "UNKNOWN OWNER_LOST",
  },
  "its result unread": {
    come: run,
    alone: ({ worker }) => {
      worker.result({ finalResponse: "unread" });
    },
    outcome: "UNKNOWN OWNER_LOST",
  },
  "its result kept": {
    come: run,
    alone: ({ worker }) => {
      keepResult(worker.bootstrap, "kept");
    },
    outcome: "COMPLETED ",
  },
  finishing: { come: giveResult, outcome: "COMPLETED " },
  "its store stream ended": {
    come: async (turn) => {
      await giveResult(turn);
      await turn.worker.finishExecution(0n);
    },
    outcome: "COMPLETED ",
  },
};

/** Ends a turn as a good worker does. */
async function finish(worker: ForeignWorker, finalResponse: string): Promise<void> {
  await worker.running();
  worker.result({ finalResponse });
  await worker.leave();
}

/** The living members of the groups that a home's launches lead. */
function membersOf(home: string): readonly number[] {
  const groups = new Set(launchesOf(home).map(({ pid }) => pid));
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && groups.has(readProcess(pid)?.processGroup ?? 0));
}

const alive = (pids: readonly number[]): readonly number[] => pids.filter((pid) => isAlive(readProcess(pid)));

test(
  "OC-7 OW-R29 OW-R1 a gateway killed with a turn in every phase leaves each one outcome, no process, no outbox, and free sessions",
  async () => {
    const home = fixture.home(PATIENT, { agents: { foreign, echo: { runtime: "echo" } }, poolSize: 1 });
    const first = await fixture.serve(home);
    const client = first.connect();
    await client.run("echo", "so that a worker is kept ready").outcome();
    const turns: [string, Played][] = [];
    for (const [name, place] of Object.entries(PLACES)) {
      const log = client.run("foreign", name);
      const turn = { run: log, worker: await workers.next() };
      await place.come(turn);
      await client.say(await sessionOf(log), `after ${name}`).next("inputQueued");
      turns.push([name, turn]);
    }
    // One that outlives its parent and takes no notice of being asked to leave.
    await turns[4]?.[1].worker.spawnChild();
    await waitUntil("a worker is kept ready", () => {
      const waiting = rowsOf(home, "SELECT 1 FROM launches WHERE worker_pid IS NOT NULL AND gone_at IS NULL");
      return waiting.length === turns.length;
    });
    first.signal("SIGSTOP");
    for (const [name, turn] of turns) PLACES[name]?.alone?.(turn);
    const members = membersOf(home);
    expect(members.length).toBeGreaterThanOrEqual(turns.length + 2);
    await first.kill();

    const second = await fixture.serve(home);
    expect(alive(members)).toEqual([]);
    const again = second.connect();
    const inputs = await Promise.all(turns.map(async ([, { run: log }]) => (await log.next("inputQueued")).turn));
    const outcomes: Record<string, string> = {};
    for (const [index, [name]] of turns.entries()) {
      const { inputId = "" } = inputs[index] ?? {};
      if (PLACES[name]?.outcome === "again") {
        expect(rowsOf(home, "SELECT outcome, vain_starts FROM inputs WHERE input_id = ?", inputId)).toEqual([
          { outcome: null, vain_starts: 1 },
        ]);
        outcomes[name] = "again";
        continue;
      }
      const { outcome, reason } = await again.turn(inputId);
      outcomes[name] = `${outcome} ${reason}`;
    }
    expect(outcomes).toEqual(Object.fromEntries(Object.entries(PLACES).map(([name, { outcome }]) => [name, outcome])));
    expect(rowsOf(home, "SELECT 1 FROM prompts WHERE end IS NULL")).toEqual([]);

    for (const [index, [name]] of turns.entries()) {
      if (PLACES[name]?.outcome !== "UNKNOWN OWNER_LOST") continue;
      const { sessionId = "" } = inputs[index] ?? {};
      const { turn } = await again.turn(inputs[index]?.inputId ?? "");
      await again.acknowledge(sessionId, turn.executionId);
    }
    const repeated = Object.values(outcomes).filter((outcome) => outcome === "again");
    for (const _ of [...turns, ...repeated]) await finish(await workers.next(), "went on");
    for (const [index, [name]] of turns.entries()) {
      if (outcomes[name] !== "again") continue;
      const { inputId = "" } = inputs[index] ?? {};
      expect(await again.turn(inputId)).toMatchObject({ outcome: "COMPLETED", answer: "went on" });
      const said =
        "SELECT 1 FROM messages JOIN inputs USING (session_id) WHERE input_id = ? AND role = 'user' AND messages.text = ?";
      expect(rowsOf(home, said, inputId, name)).toHaveLength(1);
    }
    await waitFor("every follower has run", () => {
      const rows = rowsOf<{ text: string; outcome: string | null }>(
        home,
        "SELECT text, outcome FROM inputs WHERE text LIKE 'after %' AND outcome IS NOT 'completed'",
      );
      return rows.length === 0 ? { found: true } : { state: rows };
    });
    await waitUntil("no outbox is left", () => readdirSync(homePaths(home).outboxesDir).length === 0);
    const [totals] = rowsOf(home, "SELECT admitted, started, ended FROM turn_totals");
    const all = 2 * turns.length + 1;
    expect(totals).toEqual({ admitted: all, started: all, ended: all });
    expect(await second.stop()).toBe(0);
  },
  LIMIT_MS,
);

/** Keeps whoever assigns an execution in the middle of that, for longer than a test lasts. @returns what ends it for later ones */
function holdAssignments(home: string): () => void {
  const change = (sql: string): void => {
    const database = new DatabaseSync(homePaths(home).database, { timeout: WAIT_MS });
    database.exec(sql);
    database.close();
  };
  const many = Array.from({ length: 8 }, (_, index) => `sqlite_schema t${String(index)}`).join(", ");
  change(`CREATE TRIGGER hold BEFORE UPDATE ON executions WHEN NEW.state = 'assigned' AND OLD.state = 'claimed'
    BEGIN SELECT count(*) FROM ${many}; END`);
  return () => {
    change("DROP TRIGGER hold");
  };
}

test("OC-7 a gateway killed between the proof of a worker and its assignment has started nothing: the turn runs at the next start, and the next input after it", async () => {
  const home = fixture.home(PATIENT, { agents: { echo: foreign } });
  const first = await fixture.serve(home);
  const release = holdAssignments(home);
  const log = first.connect().run("echo", "hello");
  const worker = await workers.next();
  await worker.connected();
  const sessionId = await sessionOf(log);
  await log.started();
  worker.open();
  worker.hello();
  const proved = () => rowsOf(home, "SELECT worker_pid, gone_at FROM launches WHERE worker_pid IS NOT NULL");
  await waitUntil("the worker is proved", () => proved().length === 1);
  await untilBusy(first.pid);
  expect(proved()).toEqual([{ worker_pid: worker.launched.pid, gone_at: null }]);
  expect(rowsOf(home, "SELECT state, launch_id FROM executions")).toEqual([{ state: "claimed", launch_id: null }]);
  await first.kill();
  release();

  const second = (await fixture.serve(home)).connect();
  expect(alive([worker.launched.pid])).toEqual([]);
  const { inputId = "" } = (await log.next("inputQueued")).turn ?? {};
  await finish(await workers.next(), "ran late");
  expect(await second.turn(inputId)).toMatchObject({ outcome: "COMPLETED", answer: "ran late" });
  const next = second.say(sessionId, "next");
  await finish(await workers.next(), "ran");
  expect((await next.outcome()).answer).toBe("ran");
});

const setPolicies = defineCommand<Uint8Array, undefined>({
  name: "test.policies",
  run(tx, policy) {
    tx.run("UPDATE sessions SET policy = ?", policy);
    return undefined;
  },
});

/** So many that a start can be killed in the middle of settling them. */
const ABANDONED = 240;

test(
  "OC-7 recovery that is killed three times over, each time further on, comes to one outcome for every turn",
  async () => {
    const home = fixture.home();
    const paths = homePaths(home);
    ensureHome(paths);
    const store = await openStore(paths);
    const bench = new TurnBench(store);
    const sessions = Array.from({ length: ABANDONED }, () => fresh.session());
    await Promise.all(sessions.map((sessionId) => bench.admit(sessionId, { create: true })));
    await Promise.all(sessions.map((sessionId) => bench.run(sessionId)));
    const agent = createAgentDirectory(loadAgents(paths.agentsDir)).require("echo");
    await store.writer.execute(setPolicies, Policy.encode(freezePolicy(agent)).finish());
    await store.close();
    const settled = (): number => rowsOf(home, "SELECT 1 FROM executions WHERE outcome IS NOT NULL").length;
    const told: number[] = [];
    for (const eighths of [1, 2, 3]) {
      const killed = new ServeProcess(home);
      await waitFor(
        `${String(eighths)} eighths are settled`,
        () => (settled() >= (ABANDONED * eighths) / 8 ? { found: true } : { state: settled() }),
        LIMIT_MS,
      );
      await killed.kill();
      told.push(settled());
    }
    expect(told).toEqual([...new Set(told)].sort((a, b) => a - b));
    expect(told.at(-1)).toBeLessThan(ABANDONED);
    const last = (await fixture.serve(home)).connect();
    expect(rowsOf(home, "SELECT outcome, state, COUNT(*) AS count FROM executions GROUP BY outcome, state")).toEqual([
      { outcome: "unknown", state: "lost", count: ABANDONED },
    ]);
    expect(rowsOf(home, "SELECT 1 FROM sessions WHERE running_execution_id IS NOT NULL")).toEqual([]);
    expect(rowsOf(home, "SELECT admitted, started, ended FROM turn_totals")).toEqual([
      { admitted: ABANDONED, started: ABANDONED, ended: ABANDONED },
    ]);
    const [sessionId = ""] = sessions;
    const [paused] = rowsOf<{ id: string }>(
      home,
      "SELECT paused_execution_id AS id FROM sessions WHERE session_id = ?",
      sessionId,
    );
    await last.acknowledge(sessionId, paused?.id ?? "");
    expect((await last.say(sessionId, "goes on").outcome()).answer).toBe("goes on");
  },
  LIMIT_MS,
);
