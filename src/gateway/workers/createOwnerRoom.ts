import type { WorkerMessages } from "../../dm/services/workerMessages.js";
import { createOwner, type Owner } from "../../owner/owner.js";
import { readTurn } from "../../owner/records/readTurn.js";
import { toTurn } from "../../owner/records/turnRecord.js";
import type { ServiceImplementation } from "../../rpc/harness/implementService.js";
import { failureOf, toFailure } from "../../rpc/wire/failure.js";
import { findSession } from "../../store/queries/sessions.js";
import { sessionsToRun, turnsOfSession } from "../../store/queries/turns.js";
import type { GatewayContext } from "../gatewayContext.js";
import type { Elsewhere } from "../messages/teammates.js";
import { createNotifier, type Notifier } from "../notify/notifier.js";
import type { OwnerRoom } from "../ports.js";
import { pauseFailure } from "../usage/pauseError.js";
import { toWorker } from "./toWorker.js";
import { turnOffer } from "./turnOffer.js";
import { workerProgram } from "./workerProgram.js";

/** What {@link createOwnerRoom} needs of direct messages. */
export interface OwnerMessages {
  readonly messages: WorkerMessages;
  /** Called after a commit that changed deliveries, with those of them that became dead letters. */
  readonly onDeliveriesChanged: (deliveryIds: readonly string[], dead: readonly string[]) => void;
  /** What is known of those who can be sent to elsewhere. */
  readonly elsewhere: () => Elsewhere;
}

/** Joins the owner of worker processes to the rest of the gateway. */
export function createOwnerRoom(
  context: GatewayContext,
  { messages, onDeliveriesChanged, elsewhere }: OwnerMessages,
  clientServices: (owner: Owner) => readonly ServiceImplementation[],
): { readonly owner: Owner; readonly room: OwnerRoom; readonly notifier: Pick<Notifier, "notify"> } {
  const { store, paths, budgets, clock, random, table, secrets, log, config, agents, events, env, spending } = context;
  const notifier = createNotifier({
    command: config.notifyCommand,
    environment: env,
    clock,
    log: log.child({ component: "notify" }),
  });
  const owner = createOwner({
    store,
    paths,
    budgets,
    clock,
    random,
    table,
    secrets,
    log: log.child({ component: "owner" }),
    tracer: context.tracer,
    maxWorkers: config.workers.max,
    poolSize: config.workers.poolSize,
    nice: config.workers.nice,
    program: workerProgram(env, paths),
    messages,
    agent: (name) => agents.require(name),
    gate: spending,
    offer: (name, botChat) => turnOffer(context, name, botChat, elsewhere()),
    listeners: {
      effects: ({ changed, dead }) => {
        onDeliveriesChanged(changed, dead);
      },
      unknownOutcome: async (inputId, claim) => {
        const turn = readTurn(store.reader, inputId);
        const sessionId = turn?.sessionId ?? "";
        const agent = findSession(store.reader, sessionId)?.agent ?? "";
        notifier.notify({ kind: "unknown_outcome", inputId, sessionId, agent }, () => claim("command"));
        if (await claim("event")) events.publish({ $case: "unknownOutcome", value: { turn } });
      },
      workerTrouble: (agent, error) => {
        events.publish({ $case: "workerTrouble", value: { agent, failure: toFailure(failureOf(error)) } });
      },
      promptWaiting: (promptId, sessionId) => {
        events.publish({ $case: "promptWaiting", value: { promptId, sessionId } });
        notifier.notify({ kind: "prompt_waiting", promptId, sessionId });
      },
    },
  });
  spending.listen({
    paused: (pause) => {
      events.publish({
        $case: "agentPaused",
        value: { agent: pause.agent, failure: pauseFailure(pause, clock.now()) },
      });
      notifier.notify({ kind: "agent_paused", agent: pause.agent, until: new Date(pause.until).toISOString() });
    },
    resumed: (agent) => {
      owner.wake(sessionsToRun(store.reader, agent));
    },
  });
  return {
    owner,
    notifier,
    room: {
      workerServices: owner.workerServices,
      clientServices: clientServices(owner),
      authenticate: owner.authenticate,
      peerCheck: owner.peerCheck,
      liveWorkers: () => owner.liveWorkers(),
      turnsOf: (sessionId, after, limit) =>
        turnsOfSession(store.reader, sessionId, after, limit).map((rows) => ({
          sequence: rows.input.sequence,
          turn: toTurn(rows),
        })),
      sessionChanged: (sessionId) => {
        owner.sessionChanged(sessionId);
      },
      workers: () =>
        owner.parts.launcher.live.map((launch) =>
          toWorker(
            launch,
            owner.turns().find((turn) => turn.launch === launch),
            table,
          ),
        ),
      counts: () => owner.counts(),
      onTurnTimes: (listener) => owner.onTurnTimes(listener),
      recover: () => owner.recover(),
      start: () => {
        owner.start();
        spending.look();
      },
      prepare: () => {
        const main = agents.list().find((agent) => agent.main);
        if (main !== undefined) owner.prepare(main.name);
      },
      drain: (graceMs) => owner.drain(graceMs),
      async close() {
        await owner.close();
        // A worker that was being made ready has no turn that would end it and close its record.
        const { launcher } = owner.parts;
        await Promise.all(launcher.live.map((launch) => launcher.end(launch)));
        await notifier.close();
      },
    },
  };
}
