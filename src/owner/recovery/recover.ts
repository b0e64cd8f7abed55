import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import type { ProcessTable } from "../../base/processTable.js";
import type { TurnResult } from "../../gen/talaria/types/v1/result.js";
import { RpcError } from "../../rpc/rpcError.js";
import { failureOf } from "../../rpc/wire/failure.js";
import type { Tracer } from "../../rpc/tracing/tracer.js";
import type { DeliveryEffects } from "../../store/deliveries/deliveryEffects.js";
import { abandonedExecutions, abandonedLaunches } from "../../store/queries/turns.js";
import { findSession } from "../../store/queries/sessions.js";
import { untoldOutcomes } from "../../store/queries/untoldOutcomes.js";
import type { Store } from "../../store/store.js";
import type { ExecutionRow } from "../../store/turns/executionRow.js";
import { loseExecution } from "../../store/turns/loseExecution.js";
import { releaseSession } from "../../store/turns/releaseSession.js";
import { requeueExecution } from "../../store/turns/requeueExecution.js";
import type { ReadMarks } from "../launch/launchMark.js";
import type { ExecutionPhase } from "../phase/executionPhase.js";
import { judgeResult } from "../result/judgeResult.js";
import { traceRecovered } from "../trace/recoveredTurn.js";
import { lossOutcome } from "../turn/lossOutcome.js";
import { storeResult } from "../turn/storeResult.js";
import { tellUnknown } from "../turn/tellUnknown.js";
import type { TurnListeners } from "../turn/turnParts.js";
import { outboxDirectory, outboxKey, readOutbox, removeOutbox } from "./outbox.js";
import { sweepLaunch } from "./sweepLaunch.js";

/** What recovery works with. */
export interface RecoveryParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly table: ProcessTable;
  readonly marksOf: ReadMarks;
  readonly log: Logger;
  /** Takes the spans of the turns that are settled. */
  readonly tracer: Tracer;
  readonly outboxesDir: string;
  /** Told after each commit. */
  readonly effects: (effects: DeliveryEffects) => void;
  /** Told of each turn whose outcome is unknown and was not told before. */
  readonly unknownOutcome: TurnListeners["unknownOutcome"];
}

/**
 * Settles what earlier epochs left behind: first nothing of their processes is left, then every turn of theirs has its one outcome
 * (from the worker's outbox where it kept a result, else unknown) or, where nothing of it had started, waits again at the head of its lane; then
 * their sessions are free and what nobody was told is told. Each step is one commit and none is repeated, so it may be killed anywhere
 * and run again.
 */
export async function recover(parts: RecoveryParts): Promise<void> {
  const { store, log } = parts;
  const launches = abandonedLaunches(store.reader, store.epoch);
  const executions = abandonedExecutions(store.reader, store.epoch);
  const sessions = new Map(executions.map((execution) => [execution.launch_id, execution.session_id]));
  await Promise.all(launches.map((launch) => sweepLaunch(parts, launch, sessions.get(launch.launch_id))));
  for (const execution of executions) await settle(parts, execution);
  for (const inputId of untoldOutcomes(store.reader)) await tellUnknown(parts, parts.unknownOutcome, log, inputId);
  if (launches.length + executions.length > 0) {
    log.info({ launches: launches.length, executions: executions.length }, "recovered from an earlier start");
  }
}

async function settle(parts: RecoveryParts, execution: ExecutionRow): Promise<void> {
  const { store, clock, log, outboxesDir } = parts;
  const { execution_id: executionId } = execution;
  const directory = outboxDirectory(outboxesDir, executionId);
  if (execution.outcome === null) {
    const content = readOutbox(directory, outboxKey(store.homeKey, executionId), executionId);
    if (content.kind === "refused") log.error({ execution: executionId }, "an outbox is damaged or forged; not used");
    const settled =
      content.kind === "result"
        ? await commitKept(parts, execution, content.result)
        : content.kind === "empty" && (await requeue(parts, execution));
    // Whoever wrote into an outbox had begun, whatever the store says.
    if (!settled) await lose(parts, execution, content.kind === "empty" ? phaseOf(execution) : "lost");
  }
  traceRecovered(parts, execution);
  // Before the release: once the session is free nothing remembers the outbox.
  removeOutbox(directory);
  await store.writer.execute(releaseSession, { executionId, now: clock.now() });
}

/** How far the worker can have come by what the store has. */
function phaseOf({ state }: ExecutionRow): ExecutionPhase {
  if (state === "claimed") return "spawned";
  return state === "assigned" ? "bootstrapped" : "lost";
}

async function requeue({ store, clock, log, effects }: RecoveryParts, execution: ExecutionRow): Promise<boolean> {
  const { execution_id: executionId } = execution;
  const back = await store.writer.execute(requeueExecution, { executionId, epoch: store.epoch, now: clock.now() });
  if (back.kind === "refused") return false;
  log.warn({ execution: executionId, input: execution.input_id }, "nothing of a turn had started; queued again");
  effects(back.effects);
  return true;
}

async function commitKept(parts: RecoveryParts, execution: ExecutionRow, result: TurnResult): Promise<boolean> {
  const { store, log, effects } = parts;
  const { execution_id: executionId } = execution;
  const session = findSession(store.reader, execution.session_id);
  try {
    // A worker that ended early did so because its owner was gone.
    const stopped = failureOf(new RpcError("OWNER_LOST"));
    const judgement = judgeResult(result, { sessionId: execution.session_id, stopped });
    const fence = { executionId, epoch: execution.epoch, generation: execution.generation };
    effects(
      await storeResult(parts, log, {
        fence,
        agent: session?.agent ?? "",
        result,
        judgement,
        stopped: false,
      }),
    );
    return true;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    log.error({ execution: executionId, err: error }, "an outbox's result cannot be used");
    return false;
  }
}

async function lose(parts: RecoveryParts, execution: ExecutionRow, phase: ExecutionPhase): Promise<void> {
  const { store, clock, effects } = parts;
  const outcome = lossOutcome({ phase, stopped: false, toolOpen: false, ownerDied: true });
  const settled = await store.writer.execute(loseExecution, {
    executionId: execution.execution_id,
    outcome,
    failure: failureOf(new RpcError(outcome === "failed" ? "TURN_NOT_STARTED" : "OWNER_LOST")),
    now: clock.now(),
  });
  if (settled.kind === "lost") effects(settled.effects);
}
