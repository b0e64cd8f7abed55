import { join } from "node:path";

import type { AgentConfig } from "../../base/config/agentConfig.js";
import { LIMITS } from "../../base/limits.js";
import { BackgroundState } from "../../gen/talaria/owner/v1/execution_store_service.js";
import { type Bootstrap, RetryMode } from "../../gen/talaria/owner/v1/owner_service.js";
import type { Attachment } from "../../gen/talaria/types/v1/attachment.js";
import type { Policy } from "../../gen/talaria/types/v1/policy.js";
import { toAuthor } from "../../rpc/wire/author.js";
import { toDuration } from "../../rpc/wire/times.js";
import { runningBackgroundProcesses } from "../../store/queries/backgroundProcesses.js";
import type { ClaimedInput } from "../../store/turns/claimInput.js";
import { authorFromColumns } from "../../store/turns/storedAuthor.js";
import type { Credential } from "../policy/resolveCredentials.js";
import type { WorkerTrace } from "../trace/turnTrace.js";
import type { TurnOffer, TurnParts } from "./turnParts.js";

/** What a bootstrap is made from besides the turn's parts. */
export interface BootstrapFacts {
  readonly executionId: string;
  readonly claimed: ClaimedInput;
  readonly trace: WorkerTrace;
  readonly agent: AgentConfig;
  /** The session's, read. */
  readonly policy: Policy;
  readonly offer: TurnOffer;
  readonly credentials: readonly Credential[];
  readonly grantedCommands: readonly string[];
  /** 32 bytes. */
  readonly assignmentSecret: Buffer;
  readonly outboxDirectory: string;
  /** 32 bytes. */
  readonly outboxKey: Buffer;
  /** Whether nobody can answer prompts. */
  readonly headless: boolean;
  readonly workspace: string;
  readonly attachments: readonly Attachment[];
}

const RETRY_MODES: Readonly<Record<NonNullable<ClaimedInput["retry"]>["mode"], RetryMode>> = {
  resume: RetryMode.RETRY_MODE_RESUME,
  compress_then_resume: RetryMode.RETRY_MODE_COMPRESS_THEN_RESUME,
};

/** The assignment as it is sent to the worker. */
export function bootstrapFrame(parts: TurnParts, facts: BootstrapFacts): Bootstrap {
  const { budgets, store } = parts;
  const { claimed, offer } = facts;
  const { input } = claimed;
  return {
    protocol: 1,
    executionId: facts.executionId,
    sessionId: input.session_id,
    sessionTitle: claimed.title,
    agent: claimed.agent,
    generation: BigInt(claimed.generation),
    epoch: BigInt(store.epoch),
    assignmentSecret: facts.assignmentSecret,
    policy: facts.policy,
    credentials: [...facts.credentials],
    input: {
      inputId: input.input_id,
      text: input.text,
      author: toAuthor(authorFromColumns(input)),
      attachments: [...facts.attachments],
      deliveryId: input.delivery_id ?? "",
      depth: input.depth,
      inReplyTo: input.in_reply_to ?? "",
      attribution: input.attribution,
      attempt: claimed.retry === undefined ? 1 : 2,
      retryMode: claimed.retry === undefined ? RetryMode.RETRY_MODE_UNSPECIFIED : RETRY_MODES[claimed.retry.mode],
    },
    tools: [...offer.tools],
    grantedCommands: [...facts.grantedCommands],
    headless: facts.headless,
    workspace: facts.workspace,
    budgets: {
      finishWait: toDuration(budgets.finishWaitMs),
      orphanGrace: toDuration(budgets.orphanGraceMs),
      turnFinal: toDuration(budgets.turnFinalWorkMs),
      approval: toDuration(budgets.approvalMs),
      clarify: toDuration(budgets.clarifyMs),
      storeCall: toDuration(budgets.storeCallMs),
      heartbeat: toDuration(budgets.heartbeatIntervalMs),
      outstandingBytes: BigInt(LIMITS.outstandingBytes),
      openPrompts: budgets.openPromptsPerExecution,
    },
    outbox: { directory: facts.outboxDirectory, key: facts.outboxKey },
    trace: { traceparent: facts.trace.traceparent, tracestate: input.tracestate },
    traceWork: facts.trace.traceWork,
    rosterInstructions: offer.rosterInstructions,
    rosterFingerprint: offer.rosterFingerprint,
    childDepth: claimed.childDepth,
    backgroundProcesses: runningBackgroundProcesses(store.reader, input.session_id).map((row) => ({
      processId: row.processId,
      process: { pid: row.pid, birth: BigInt(row.birth), processGroup: row.processGroup },
      command: row.command,
      state: BackgroundState.BACKGROUND_STATE_RUNNING,
    })),
  };
}

/** The agent's workspace: the working directory of its turns. */
export function workspaceOf(agent: AgentConfig): string {
  return join(agent.directory, "workspace");
}
