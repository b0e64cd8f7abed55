import { mkdirSync } from "node:fs";
import type { Socket } from "node:net";

import type { Budgets } from "../base/budgets.js";
import type { Clock } from "../base/clock.js";
import type { AgentConfig } from "../base/config/agentConfig.js";
import type { HomePaths } from "../base/home.js";
import { newId } from "../base/ids.js";
import type { Logger } from "../base/logger.js";
import type { ProcessIdentity } from "../base/processIdentity.js";
import type { ProcessTable } from "../base/processTable.js";
import type { Random } from "../base/random.js";
import type { SecretRegistry } from "../base/secretRegistry.js";
import { within } from "../base/within.js";
import { StopCause } from "../gen/talaria/owner/v1/owner_service.js";
import type { Authenticate } from "../rpc/authentication.js";
import type { ServiceImplementation } from "../rpc/harness/implementService.js";
import type { PeerCredentials } from "../rpc/peerCredentials.js";
import { RpcError } from "../rpc/rpcError.js";
import { passingTracer } from "../rpc/tracing/passingTracer.js";
import type { Tracer } from "../rpc/tracing/tracer.js";
import { agentOfSession, findSession } from "../store/queries/sessions.js";
import { sessionsToRun } from "../store/queries/turns.js";
import type { Store } from "../store/store.js";
import { claimInput } from "../store/turns/claimInput.js";
import { shareSlot } from "./admission/sharedSlot.js";
import { type RunNext, SlotScheduler } from "./admission/slotScheduler.js";
import { OPEN_GATE, type TurnGate } from "./admission/turnGate.js";
import { AttachmentFiles } from "./attachments/attachmentFiles.js";
import { ownerService } from "./attach/ownerService.js";
import type { RunTurn } from "./children/childDesk.js";
import { readMarks } from "./launch/launchMark.js";
import { Launcher } from "./launch/launcher.js";
import { LaunchTokens } from "./launch/launchTokens.js";
import type { Spawner } from "./launch/spawner.js";
import { systemSpawner } from "./launch/spawner.js";
import { stayingProcesses } from "./launch/stayingProcesses.js";
import { WorkerLog } from "./launch/workerLog.js";
import { WorkerPool } from "./pool/workerPool.js";
import { type WorkerProgram, workerSpec } from "./pool/workerSpec.js";
import { toSession } from "./records/toSession.js";
import { recover } from "./recovery/recover.js";
import { executionStoreService } from "./store/executionStoreService.js";
import type { MessagePort } from "./store/messagePort.js";
import { workspaceOf } from "./turn/bootstrapFrame.js";
import type { TurnTimes } from "./turn/phaseTimes.js";
import { persistently } from "./turn/persistently.js";
import type { TurnListeners, TurnOffer, TurnParts } from "./turn/turnParts.js";
import { TurnRun } from "./turn/turnRun.js";
import { SessionHub } from "./watch/sessionHub.js";

/** How long an owner that closes waits for the outcomes of its turns; the next start settles what is not stored, milliseconds. */
const LAST_WRITES_MS = 3_000;

/** What an owner works with. */
export interface OwnerOptions {
  readonly store: Store;
  readonly paths: HomePaths;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly random: Random;
  readonly table: ProcessTable;
  readonly secrets: SecretRegistry;
  readonly log: Logger;
  /** Turns that run at once. */
  readonly maxWorkers: number;
  /** Idle workers kept ready. */
  readonly poolSize: number;
  /** How far workers stand back where processor time is short, 0 to 19; default 0. */
  readonly nice?: number;
  /** What is started where an agent names no command. */
  readonly program: WorkerProgram;
  readonly listeners: TurnListeners;
  readonly messages: MessagePort;
  /** An agent's configuration. @throws RpcError UNKNOWN_AGENT, AGENT_INVALID. */
  readonly agent: (name: string) => AgentConfig;
  /** What an agent is offered in a turn of a session. */
  readonly offer: (agent: string, botChat: boolean) => TurnOffer;
  /** Which agents begin no turn for now; default none. */
  readonly gate?: TurnGate;
  /** Default: the system's. */
  readonly spawner?: Spawner;
  /** Takes the spans of turns; default: nobody, and traces are passed on. */
  readonly tracer?: Tracer;
}

/** The owner of worker processes: it starts them, believes them, hands them their turns and records how those end. */
export interface Owner {
  /** What turns work with; for the services that show and steer them. */
  readonly parts: TurnParts & { readonly runningText: (sessionId: string) => string };
  /** Files that clients upload for turns. */
  readonly attachments: AttachmentFiles;
  /** Services of the owner socket. */
  readonly workerServices: readonly ServiceImplementation[];
  /** Says who calls on the owner socket: a worker, of the connection it came in on. */
  readonly authenticate: Authenticate;
  /** Refuses connections of other users. */
  readonly peerCheck: (peer: PeerCredentials | undefined, socket: Socket) => void;
  /** The worker processes that are not proved gone. */
  liveWorkers(): readonly (ProcessIdentity & { readonly processGroup: number })[];
  /** The running turns, oldest first. */
  turns(): readonly TurnRun[];
  /** The running turn with an execution id. */
  turn(executionId: string): TurnRun | undefined;
  /** Worker slots in use and idle pooled workers. */
  counts(): { readonly inUse: number; readonly pooled: number };
  /** Says that inputs were committed for these sessions. */
  wake(sessionIds: readonly string[]): void;
  /** Whether new work is refused. */
  readonly draining: boolean;
  /** Tells the viewers of a session that its own data changed, or that it is gone. */
  sessionChanged(sessionId: string): void;
  /** Settles what earlier epochs left behind. */
  recover(): Promise<void>;
  /** Begins to start queued inputs. */
  start(): void;
  /** Makes a pooled worker ready for an agent before its first turn; a failure is logged. */
  prepare(agent: string): void;
  /** Calls `listener` with the times of each turn of which nothing is left. @returns a function that stops that. */
  onTurnTimes(listener: (times: TurnTimes) => void): () => void;
  /** Takes no more inputs, lets running turns end for `graceMs` milliseconds, then stops them. */
  drain(graceMs: number): Promise<void>;
  /** Ends at once: workers are killed; turns whose outcomes cannot be stored are settled by the next start. */
  close(): Promise<void>;
}

/** Makes an owner; nothing of it runs before `recover` and `start`. */
export function createOwner(options: OwnerOptions): Owner {
  const { store, paths, budgets, clock, random, table, secrets, log, listeners, gate = OPEN_GATE } = options;
  const { tracer = passingTracer(random) } = options;
  const running = new Map<string, TurnRun>();
  const timesListeners = new Set<(times: TurnTimes) => void>();
  let draining = false;
  let closing = false;

  const tokens = new LaunchTokens(table);
  const workerLog = new WorkerLog(`${paths.logsDir}/workers.log`, secrets, log, clock);
  const launcher = new Launcher({
    spawner: options.spawner ?? systemSpawner(options.nice ?? 0),
    table,
    clock,
    random,
    writer: store.writer,
    epoch: store.epoch,
    tokens,
    secrets,
    workerLog,
    log,
    staying: (sessionId) => stayingProcesses(store, sessionId),
    helloMs: budgets.helloMs,
  });
  const pool = new WorkerPool({
    launcher,
    clock,
    random,
    log,
    size: options.poolSize,
    idleMs: budgets.pooledWorkerIdleMs,
    onTrouble: (error) => {
      listeners.workerTrouble("", error);
    },
  });
  const parts: Owner["parts"] = {
    store,
    paths,
    budgets,
    clock,
    random,
    secrets,
    log,
    tracer,
    hub: new SessionHub(store.epoch, clock, budgets.eventsKeptPerSession),
    launcher,
    pool,
    agent: options.agent,
    gate,
    offer: options.offer,
    listeners: {
      ...listeners,
      effects: (effects) => {
        wake(effects.wake);
        listeners.effects(effects);
      },
    },
    runningText: (sessionId) =>
      [...running.values()].find((turn) => turn.claimed.input.session_id === sessionId)?.events.text ?? "",
  };

  const runTurn = async (...[sessionId, slot, begun]: Parameters<RunTurn>): Promise<"ran" | "nothing"> => {
    const executionId = newId("exe", random);
    const claim = await persistently(clock, log, () =>
      store.writer.execute(claimInput, { sessionId, executionId, epoch: store.epoch, now: clock.now() }),
    );
    parts.listeners.effects(claim.effects);
    if (claim.kind === "waits") wakeAt(sessionId, claim.until);
    if (claim.kind !== "claimed") return "nothing";
    const { program } = options;
    const turn = new TurnRun({ parts, program, slot, executionId, claimed: claim.claimed, runTurn });
    running.set(executionId, turn);
    begun(turn);
    if (closing) turn.stop(StopCause.STOP_CAUSE_DRAINING);
    try {
      const times = await turn.run();
      for (const listener of timesListeners) listener(times);
    } finally {
      running.delete(executionId);
      gate.turnEnded(claim.claimed.agent);
      sessionChanged(sessionId);
    }
    return "ran";
  };
  // A child's turn is part of its parent's, which goes on to its end.
  const runRoot: RunNext = async (sessionId, slot) => {
    const agent = agentOfSession(store.reader, sessionId);
    if (agent !== undefined && gate.closedFor(agent) !== undefined) return "nothing";
    return runTurn(sessionId, shareSlot(slot), () => undefined);
  };
  const scheduler = new SlotScheduler(options.maxWorkers, runRoot, (sessionId, error) => {
    log.error({ err: error, session: sessionId }, "a session's next input could not be run");
  });
  const wake = (sessionIds: readonly string[]): void => {
    for (const sessionId of sessionIds) scheduler.wake(sessionId);
  };
  const delayed = new Map<string, () => void>();
  const wakeAt = (sessionId: string, at: number): void => {
    delayed.get(sessionId)?.();
    const cancel = clock.after(Math.max(0, at - clock.now()), () => {
      delayed.delete(sessionId);
      scheduler.wake(sessionId);
    });
    delayed.set(sessionId, cancel);
  };
  const cancelDelayed = (): void => {
    for (const cancel of delayed.values()) cancel();
    delayed.clear();
  };
  const sessionChanged = (sessionId: string): void => {
    const session = findSession(store.reader, sessionId);
    if (session !== undefined) {
      parts.hub.publish(sessionId, { $case: "sessionChanged", value: toSession(session) });
      return;
    }
    parts.hub.publish(sessionId, { $case: "sessionDeleted", value: { sessionId } });
    parts.hub.drop(sessionId);
    void attachments.sweep();
  };
  const attachments = new AttachmentFiles({ store, clock, random, log, directory: paths.attachmentsDir });
  const turn = (executionId: string): TurnRun | undefined => running.get(executionId);
  const ownUid = process.getuid?.();

  return {
    parts,
    attachments,
    workerServices: [
      ownerService({ tokens, table, clock, writer: store.writer, log, ownPid: process.pid, ownUid }),
      executionStoreService({ store, clock, random, table, turn, messages: options.messages }),
    ],
    authenticate: ({ connection }) => ({ kind: "worker", connectionId: connection.id }),
    peerCheck: (peer) => {
      if (peer !== undefined && ownUid !== undefined && peer.uid !== ownUid) throw new RpcError("WORKER_NOT_LAUNCHED");
    },
    liveWorkers: () => launcher.live.map(({ process: launched, group }) => ({ ...launched, processGroup: group.id })),
    turns: () => [...running.values()],
    turn,
    counts: () => ({ inUse: scheduler.used, pooled: pool.idle }),
    wake,
    get draining() {
      return draining;
    },
    sessionChanged,
    onTurnTimes(listener) {
      timesListeners.add(listener);
      return () => void timesListeners.delete(listener);
    },
    async recover() {
      await recover({
        store,
        clock,
        table,
        marksOf: readMarks,
        log,
        tracer,
        outboxesDir: paths.outboxesDir,
        effects: listeners.effects,
        unknownOutcome: listeners.unknownOutcome,
      });
      await attachments.clean();
    },
    start() {
      for (const sessionId of sessionsToRun(store.reader)) scheduler.wake(sessionId);
      scheduler.open();
    },
    prepare(name) {
      if (options.poolSize === 0 || draining) return;
      try {
        const agent = options.agent(name);
        const workspace = workspaceOf(agent);
        mkdirSync(workspace, { recursive: true, mode: 0o700 });
        pool.refill(workerSpec(agent, options.program, workspace));
      } catch (error) {
        log.warn({ err: error, agent: name }, "no worker could be prepared");
      }
    },
    async drain(graceMs) {
      draining = true;
      cancelDelayed();
      scheduler.close();
      const stopAt = clock.now() + graceMs;
      for (const one of running.values()) one.announceDrain(stopAt);
      await within(clock, graceMs, scheduler.idle());
      for (const one of running.values()) one.stop(StopCause.STOP_CAUSE_DRAINING);
      await within(clock, budgets.stopTotalMs, scheduler.idle());
      await pool.close();
    },
    async close() {
      draining = true;
      closing = true;
      cancelDelayed();
      scheduler.close();
      // What does not run yet has done nothing and is told so; what runs loses its worker.
      for (const one of running.values()) if (one.phase !== "running") one.stop(StopCause.STOP_CAUSE_DRAINING);
      await pool.close();
      await Promise.all(launcher.live.map((launch) => launch.group.kill()));
      // A full disk puts outcomes off for as long as it is full; the end of the store then lets go of them.
      await within(clock, LAST_WRITES_MS, scheduler.idle());
      workerLog.close();
    },
  };
}
