import type { Client } from "@grpc/grpc-js";
import type { Clock } from "../base/clock.js";
import { createDeferred } from "../base/deferred.js";
import type { Random } from "../base/random.js";
import { redact as redactText } from "../base/redaction.js";
import type { SecretRegistry } from "../base/secretRegistry.js";
import { RpcError } from "../rpc/rpcError.js";
import { createAnswerText } from "./answerText.js";
import type { AttachSession } from "./attachSession.js";
import type { CheckedBootstrap } from "./checkBootstrap.js";
import { createTurnContext } from "./createTurnContext.js";
import { createTurnHooks } from "./hooks/turnHooks.js";
import type { Heartbeat } from "./heartbeat.js";
import { openOutbox } from "./outbox.js";
import { PromptTable } from "./prompts/promptTable.js";
import { leaveLoop } from "./leaveLoop.js";
import { makeReceipt } from "./resultReceipt.js";
import type { RuntimeLoader } from "./runtimes/runtime.js";
import { runTurnRuntime } from "./runTurnRuntime.js";
import type { StopLatch } from "./stopLatch.js";
import { StoreClient } from "./storeClient.js";
import { usageRecord } from "./usageRecord.js";
import { addUsage, NO_USAGE, type UsageTotals } from "./usageTally.js";
import type { ResolvedBudgets } from "./workerBudgets.js";
import type { WorkerLog } from "./workerLog.js";

/** What a turn needs of the worker. */
export interface TurnParts {
  readonly bootstrap: CheckedBootstrap;
  readonly budgets: ResolvedBudgets;
  readonly client: Client;
  readonly session: Pick<AttachSession, "send" | "emit" | "announce" | "adopted">;
  readonly heartbeat: Heartbeat;
  readonly stop: StopLatch;
  /** Called when `Adopt` is on its way. */
  readonly onAdopting: () => void;
  /** Aborts when the owner is gone. */
  readonly ownerGone: AbortSignal;
  /** Finds what runs the turn. @throws RpcError RUNTIME_CONFIG. */
  readonly runtimes: (name: string) => RuntimeLoader;
  readonly secrets: SecretRegistry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: WorkerLog;
}

/** One execution, from its bootstrap to `finished`. */
export interface Turn {
  /** The open prompts, for the owner's answers. */
  readonly prompts: PromptTable;
  /** Says that `finish` has arrived. */
  finish(): void;
  /**
   * Runs to `finished`. @throws whatever ends the worker; RpcError UNAVAILABLE where the owner went away in the middle, with the
   * result kept in the outbox where one was granted and the turn had come to one.
   */
  run(): Promise<void>;
}

/** Makes the turn of an assignment. Nothing of it runs before {@link Turn.run}. */
export function createTurn(parts: TurnParts): Turn {
  const { bootstrap, budgets, client, session, stop, secrets, clock, random, log } = parts;
  const redact = (text: string): string => redactText(text, secrets);
  const prompts = new PromptTable({
    send: (frame) => session.send(frame),
    clock,
    random,
    stopped: stop.signal,
    limit: budgets.openPrompts,
  });
  const finished = createDeferred<void>();
  let usage: UsageTotals = NO_USAGE;

  const run = async (): Promise<void> => {
    const store = new StoreClient({
      client,
      fence: { executionId: bootstrap.executionId, epoch: bootstrap.epoch, generation: bootstrap.generation },
      clock,
      callMs: budgets.storeCallMs,
      signal: parts.ownerGone,
      traceparent: bootstrap.trace?.traceparent ?? "",
      tracedTools: bootstrap.traceWork,
    });
    const adopting = store.adopt(bootstrap.assignmentSecret, process.pid);
    adopting.catch(() => undefined);
    await leaveLoop();
    // Made while the owner commits; nothing of it acts before the answer.
    parts.onAdopting();
    const answerText = createAnswerText();
    const hooks = createTurnHooks({ bootstrap, environment: process.env, clock, log, signal: stop.signal, redact });
    const context = createTurnContext({
      bootstrap,
      budgets,
      session,
      store,
      prompts,
      heartbeat: parts.heartbeat,
      answer: answerText,
      hooks,
      signal: stop.signal,
      clock,
      random,
      log,
      redact,
      reportUsage: (report) => {
        usage = addUsage(usage, report);
        parts.heartbeat.tell(usage);
      },
    });
    await adopting;
    session.adopted();
    const answer = await runTurnRuntime({
      bootstrap,
      session,
      stop,
      runtimes: parts.runtimes,
      context,
      hooks,
      streamed: answerText,
      finalWork: { clock, log, budgetMs: budgets.turnFinalMs, stopped: stop.signal, ownerGone: parts.ownerGone },
      flushUsage: async () => {
        const { provider = "", model = "" } = bootstrap.policy.model ?? {};
        if (!usage.reported) return;
        await store.persist({ $case: "recordUsage", value: usageRecord({ totals: usage, provider, model }, "") });
      },
    });
    const receipt = makeReceipt({
      answer,
      stopped: stop.isStopped(),
      usage,
      sessionId: bootstrap.sessionId,
      redact: (text) => secrets.hide(text),
    });
    for (const text of receipt.pieces) await store.persist({ $case: "appendAnswerChunk", value: { text } });
    const outbox = bootstrap.outbox === undefined ? undefined : openOutbox(bootstrap.outbox, bootstrap.executionId);
    outbox?.keep(receipt.result);
    await session.send({ $case: "result", value: { result: receipt.result } });
    await finishOf(clock, budgets.finishWaitMs, finished.promise, parts.ownerGone);
    outbox?.clear();
    await store.finish();
    await session.send({ $case: "finished", value: {} });
  };

  return {
    prompts,
    finish: () => {
      finished.resolve();
    },
    run,
  };
}

async function finishOf(clock: Clock, ms: number, finish: Promise<void>, ownerGone: AbortSignal): Promise<void> {
  const without = createDeferred<never>();
  const cancel = clock.after(ms, () => {
    without.reject(
      new RpcError("DEADLINE_EXCEEDED", { message: `No finish came within ${String(ms)} ms of the result.` }),
    );
  });
  const onGone = (): void => {
    without.reject(new RpcError("OWNER_LOST"));
  };
  ownerGone.addEventListener("abort", onGone);
  if (ownerGone.aborted) onGone();
  try {
    await Promise.race([finish, without.promise]);
  } finally {
    cancel();
    ownerGone.removeEventListener("abort", onGone);
  }
}
