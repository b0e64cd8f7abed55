import type { Clock } from "../base/clock.js";
import type { Delivery } from "../gen/talaria/dm/v1/delivery.js";
import type {
  ChildEnded,
  PersistResponse,
  ReadConversationResponse,
  SendDirectMessageResponse,
} from "../gen/talaria/owner/v1/execution_store_service.js";
import { DeltaChannel } from "../gen/talaria/types/v1/event.js";
import type { ApprovalRequest, ClarifyAnswers, ClarifyQuestion } from "../gen/talaria/types/v1/prompt.js";
import type { CheckedBootstrap } from "./checkBootstrap.js";
import type { AskedModel, ModelCallReport } from "./modelCallReport.js";
import type { ApprovalDecision } from "./prompts/approvals.js";
import type { Operation, OutgoingMessage } from "./storeClient.js";
import type { ToolCallRequest, ToolOutcome } from "./toolCalls.js";
import type { UsageReport } from "./usageTally.js";
import type { WorkerLog } from "./workerLog.js";

export { DeltaChannel };

/** What of the bootstrap a runtime may see: everything but the secrets, which it asks for by name. */
export type Assignment = Omit<CheckedBootstrap, "assignmentSecret" | "credentials" | "outbox">;

/** The session's store, as far as a runtime may use it. Every call throws RpcError with the reason of a refusal. */
export interface TurnStore {
  /** Commits one operation. */
  persist(operation: Operation): Promise<PersistResponse>;
  /** Reads the transcript after a row, in parts. */
  readConversation(afterRow?: bigint, includeCompacted?: boolean): AsyncGenerator<ReadConversationResponse, void, void>;
}

/** Everything that a runtime has to do with the outside. Lives as long as the turn. */
export interface TurnContext {
  /** The assignment; `input` and `tools` among it. */
  readonly assignment: Assignment;
  /** Aborts with the first Stop; its reason is an RpcError TURN_STOPPED. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: WorkerLog;
  readonly store: TurnStore;
  /** A secret that the policy names; undefined where the owner gave none. */
  credential(name: string): string | undefined;
  /** Streams text, never empty pieces. Wait for it: that is what holds a flood to the owner's pace. */
  emitText(text: string, channel?: DeltaChannel): Promise<void>;
  /**
   * Runs a tool between its two events. The tool's failure is an outcome, not an exception.
   * @throws RpcError TURN_STOPPED where the turn is stopped before the tool starts.
   */
  callTool(request: ToolCallRequest): Promise<ToolOutcome>;
  /** Asks whether a dangerous command may run. */
  approve(request: ApprovalRequest): Promise<ApprovalDecision>;
  /** Asks a person a batch of questions. @throws RangeError for a malformed batch. */
  ask(questions: readonly ClarifyQuestion[]): Promise<ClarifyAnswers>;
  /** Sends a message of the turn's own agent. @throws RpcError with the reason of a refusal. */
  sendDirectMessage(message: OutgoingMessage): Promise<SendDirectMessageResponse>;
  /** Reads a delivery that the turn's own agent sent. @throws RpcError. */
  getDelivery(deliveryId: string): Promise<Delivery>;
  /**
   * Gives a task to a child turn, which ends with this one at the latest, and waits for its end. A child that fails is no exception.
   * @param callId the tool call that gives it; absent = none
   * @throws RpcError CHILD_LIMIT, CHILD_DEPTH; TURN_STOPPED where the turn is stopped meanwhile.
   */
  delegate(task: string, callId?: string): Promise<ChildEnded>;
  /** Begins the report of a request to a model, for the turn's trace; to be called before the request is sent. */
  traceModelCall(asked: AskedModel): ModelCallReport;
  /** Adds to what the turn used. */
  reportUsage(report: UsageReport): void;
  /** Sends no heartbeats for so many milliseconds; for trying an owner's watch. */
  muteHeartbeats(ms: number): void;
}
