import type { Clock } from "../base/clock.js";
import type { Random } from "../base/random.js";
import { DeltaChannel } from "../gen/talaria/types/v1/event.js";
import type { AnswerText } from "./answerText.js";
import type { AttachSession } from "./attachSession.js";
import type { CheckedBootstrap } from "./checkBootstrap.js";
import type { Heartbeat } from "./heartbeat.js";
import { createModelCallReports } from "./modelCallReport.js";
import type { TurnHooks } from "./hooks/turnHooks.js";
import { turnApprovals } from "./prompts/approvalMode.js";
import { Approvals } from "./prompts/approvals.js";
import { Clarifications } from "./prompts/clarifications.js";
import type { PromptTable } from "./prompts/promptTable.js";
import { splitText } from "./resultReceipt.js";
import type { StoreClient } from "./storeClient.js";
import { createToolCaller } from "./toolCalls.js";
import type { TurnContext } from "./turnContext.js";
import type { UsageReport } from "./usageTally.js";
import type { ResolvedBudgets } from "./workerBudgets.js";
import type { WorkerLog } from "./workerLog.js";

/** What {@link createTurnContext} joins. */
export interface TurnContextParts {
  readonly bootstrap: CheckedBootstrap;
  readonly budgets: ResolvedBudgets;
  readonly session: Pick<AttachSession, "announce" | "emit" | "send">;
  readonly store: StoreClient;
  readonly prompts: PromptTable;
  readonly heartbeat: Heartbeat;
  readonly answer: AnswerText;
  readonly hooks: TurnHooks;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: WorkerLog;
  /** Removes secrets from what leaves the worker. */
  readonly redact: (text: string) => string;
  readonly reportUsage: (report: UsageReport) => void;
}

/** Longest piece of streamed text, bytes: a longer one would leave the credit no grain. */
const PIECE_BYTES = 65_536;

/** Makes what a runtime works with. */
export function createTurnContext(parts: TurnContextParts): TurnContext {
  const { bootstrap, budgets, session, store, prompts, clock, signal, redact, answer } = parts;
  const { assignmentSecret: _secret, credentials, outbox: _outbox, ...assignment } = bootstrap;
  const { headless } = bootstrap;
  const approvals = new Approvals({
    table: prompts,
    mode: turnApprovals(bootstrap.policy.approvals, bootstrap.input.author),
    redact,
    granted: bootstrap.grantedCommands,
    headless,
    expiresMs: budgets.approvalMs,
  });
  const clarifications = new Clarifications({ table: prompts, headless, expiresMs: budgets.clarifyMs });
  const emitPiece = (text: string, channel: DeltaChannel): Promise<void> => {
    if (channel === DeltaChannel.DELTA_CHANNEL_ANSWER) answer.add(text);
    return session.emit({ event: { $case: "delta", value: { text, channel } } });
  };
  const emitLong = async (text: string, channel: DeltaChannel): Promise<void> => {
    for (const piece of splitText(text, PIECE_BYTES)) await emitPiece(piece, channel);
  };
  let children = 0;
  return {
    assignment,
    signal,
    clock,
    log: parts.log,
    store,
    credential: (name) => credentials.find((one) => one.name === name)?.secret,
    emitText(text, channel = DeltaChannel.DELTA_CHANNEL_ANSWER) {
      if (text === "") return Promise.resolve();
      return text.length * 3 <= PIECE_BYTES ? emitPiece(text, channel) : emitLong(text, channel);
    },
    callTool: createToolCaller({
      emit: (event) => session.emit(event),
      announce: (event) => session.announce(event),
      clock,
      signal,
      redact,
      hooks: parts.hooks,
    }),
    approve: (request) => approvals.ask(request),
    ask: (questions) => clarifications.ask(questions),
    sendDirectMessage: (message) => store.sendDirectMessage(message),
    getDelivery: (deliveryId) => store.getDelivery(deliveryId),
    delegate: (task, callId) => store.runChild(`child_${String((children += 1))}`, task, { signal, callId }),
    traceModelCall: createModelCallReports(parts),
    reportUsage: parts.reportUsage,
    muteHeartbeats: (ms) => {
      parts.heartbeat.mute(ms);
    },
  };
}
