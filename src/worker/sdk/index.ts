/** The package's entry `talaria/worker`: write a worker of your own. See docs/workers.md. */
export { serveWorker, type WorkerDefinition, type WorkerTurn } from "./serveWorker.js";
export { RpcError } from "../../rpc/rpcError.js";
export { ConversationMessage, MessageRole } from "../../gen/talaria/types/v1/conversation.js";
export { DeltaChannel } from "../../gen/talaria/types/v1/event.js";
export { ApprovalChoice, ClarifyOutcome } from "../../gen/talaria/types/v1/prompt.js";
export type { ApprovalRequest, ClarifyAnswers, ClarifyQuestion } from "../../gen/talaria/types/v1/prompt.js";
export type { Reason } from "../../rpc/reasons.js";
export type { ApprovalDecision } from "../prompts/approvals.js";
export type { AskedModel, ModelCallEnd, ModelCallReport } from "../modelCallReport.js";
export type { RuntimeAnswer, RuntimeBilling, RuntimeFailure } from "../runtimes/runtime.js";
export type { Operation, OutgoingMessage } from "../storeClient.js";
export type { ToolCallRequest, ToolOutcome } from "../toolCalls.js";
export type { Assignment, TurnStore } from "../turnContext.js";
export type { UsageReport } from "../usageTally.js";
