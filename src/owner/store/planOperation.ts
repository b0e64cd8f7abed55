import { countCodePoints, exceedsCodePoints } from "../../base/codePoints.js";
import { LIMITS } from "../../base/limits.js";
import { toCount } from "../../base/toCount.js";
import {
  BackgroundState,
  ChildState,
  type RecordUsage,
  type StoreOperation,
} from "../../gen/talaria/owner/v1/execution_store_service.js";
import { MessageRole, type ConversationMessage } from "../../gen/talaria/types/v1/conversation.js";
import { invalidField } from "../../rpc/rpcError.js";
import type { MessageDraft } from "../../store/turns/appendMessages.js";
import type { StoredAuthor } from "../../store/turns/storedAuthor.js";
import type { StoreOperationPlan } from "../../store/turns/storeOperation.js";

const MAX_MESSAGES = 1_000;
const MAX_TEXT_BYTES = 1_048_576;
const MAX_TOOL_CALLS = 128;
const MAX_SUMMARY = 262_144;
const MAX_TITLE = 200;
const MAX_COUNTER = BigInt(LIMITS.counter);
const CONTROL_CHARACTERS = /\p{Cc}/u;

/** Whose operation it is. */
export interface OperationOrigin {
  readonly author: StoredAuthor;
  readonly executionId: string;
}

/** Checks a worker's operation against the contract's bounds. @throws RpcError INVALID_FIELD. */
export function planOperation(operation: StoreOperation | undefined, origin: OperationOrigin): StoreOperationPlan {
  const chosen = operation?.operation;
  switch (chosen?.$case) {
    case "appendMessages": {
      const { messages } = chosen.value;
      check(messages.length > 0 && messages.length <= MAX_MESSAGES, "append_messages.messages", "has 1 to 1,000 rows");
      return { kind: "append", messages: messages.map((message) => draftOf(message, origin)) };
    }
    case "compactConversation": {
      const { firstRow, lastRow, summary, expectedRevision } = chosen.value;
      check(
        firstRow >= 1n && lastRow >= firstRow && lastRow <= MAX_COUNTER,
        "compact_conversation.last_row",
        "is a row after first_row",
      );
      check(
        summary !== "" && !exceedsCodePoints(summary, MAX_SUMMARY),
        "compact_conversation.summary",
        "has 1 to 262,144 code points",
      );
      return {
        kind: "compact",
        firstRow: toCount(firstRow),
        lastRow: toCount(lastRow),
        summary: { role: "system", text: summary, author: origin.author, executionId: origin.executionId },
        expectedRevision: toCount(expectedRevision),
      };
    }
    case "setTitle": {
      const { title } = chosen.value;
      const length = countCodePoints(title);
      check(
        length >= 1 && length <= MAX_TITLE && !CONTROL_CHARACTERS.test(title),
        "set_title.title",
        "has 1 to 200 code points and no control characters",
      );
      return { kind: "title", title };
    }
    case "recordUsage":
      return planUsage(chosen.value, "record_usage");
    case "recordAuxiliaryUsage":
      return planUsage(chosen.value, "record_auxiliary_usage");
    case "recordChild": {
      const { childId, state, task, answer } = chosen.value;
      check(childId !== "" && childId.length <= 64, "record_child.child_id", "has 1 to 64 characters");
      check(!exceedsCodePoints(task, 16_384), "record_child.task", "has at most 16,384 code points");
      check(!exceedsCodePoints(answer, 65_536), "record_child.answer", "has at most 65,536 code points");
      return { kind: "child", childId, state: childState(state), task, answer };
    }
    case "recordBackgroundProcess": {
      const { processId, process, command, state, exitCode } = chosen.value;
      check(
        processId !== "" && processId.length <= 64,
        "record_background_process.process_id",
        "has 1 to 64 characters",
      );
      check(process !== undefined && process.pid > 1, "record_background_process.process.pid", "names a process");
      check(!exceedsCodePoints(command, 4_096), "record_background_process.command", "has at most 4,096 code points");
      return {
        kind: "background",
        processId,
        pid: process?.pid ?? 0,
        birth: String(process?.birth ?? 0n),
        processGroup: process?.processGroup ?? 0,
        command,
        state: backgroundState(state),
        exitCode: exitCode ?? null,
      };
    }
    case "appendAnswerChunk": {
      const { text } = chosen.value;
      check(
        text !== "" && Buffer.byteLength(text) <= MAX_TEXT_BYTES && !text.includes("\0"),
        "append_answer_chunk.text",
        "has 1 to 1,048,576 bytes and no U+0000",
      );
      return { kind: "answer_chunk", text };
    }
    case undefined:
      throw invalidField("operation", "is missing or of an unknown kind");
  }
}

function check(holds: boolean, field: string, rule: string): void {
  if (!holds) throw invalidField(`operation.${field}`, rule);
}

function draftOf(message: ConversationMessage, origin: OperationOrigin): MessageDraft {
  const role = roleOf(message.role);
  check(
    Buffer.byteLength(message.text) <= MAX_TEXT_BYTES,
    "append_messages.messages.text",
    "has at most 1,048,576 bytes",
  );
  check(
    Buffer.byteLength(message.reasoning) <= MAX_TEXT_BYTES,
    "append_messages.messages.reasoning",
    "has at most 1,048,576 bytes",
  );
  check(message.toolCalls.length <= MAX_TOOL_CALLS, "append_messages.messages.tool_calls", "has at most 128 calls");
  return {
    role,
    text: message.text,
    author: origin.author,
    executionId: origin.executionId,
    ...(message.toolCalls.length === 0 ? {} : { toolCalls: JSON.stringify(message.toolCalls) }),
    ...(message.toolCallId === "" ? {} : { toolCallId: message.toolCallId }),
    ...(message.toolName === "" ? {} : { toolName: message.toolName }),
    ...(message.reasoning === "" ? {} : { reasoning: message.reasoning }),
  };
}

function roleOf(role: MessageRole): MessageDraft["role"] {
  switch (role) {
    case MessageRole.MESSAGE_ROLE_USER:
      return "user";
    case MessageRole.MESSAGE_ROLE_ASSISTANT:
      return "assistant";
    case MessageRole.MESSAGE_ROLE_SYSTEM:
      return "system";
    case MessageRole.MESSAGE_ROLE_TOOL:
      return "tool";
    default:
      throw invalidField("operation.append_messages.messages.role", "is not a known role");
  }
}

function planUsage(usage: RecordUsage, field: string): StoreOperationPlan {
  const counters = [
    usage.inputTokens,
    usage.outputTokens,
    usage.cacheReadTokens,
    usage.cacheWriteTokens,
    usage.reasoningTokens,
  ];
  check(
    counters.every((counter) => counter <= MAX_COUNTER),
    field,
    "has counters of at most 2^53",
  );
  const cost = usage.estimatedCostUsd ?? 0;
  check(
    Number.isFinite(cost) && cost >= 0 && cost <= LIMITS.costUsd,
    `${field}.estimated_cost_usd`,
    "is a number from 0 to 10^12",
  );
  check(!exceedsCodePoints(usage.provider, 64), `${field}.provider`, "has at most 64 code points");
  check(!exceedsCodePoints(usage.model, 256), `${field}.model`, "has at most 256 code points");
  check(!exceedsCodePoints(usage.purpose, 64), `${field}.purpose`, "has at most 64 code points");
  return {
    kind: "usage",
    purpose: usage.purpose,
    provider: usage.provider,
    model: usage.model,
    inputTokens: toCount(usage.inputTokens),
    outputTokens: toCount(usage.outputTokens),
    apiCalls: usage.apiCalls,
    costUsd: cost,
  };
}

function childState(state: ChildState): string {
  switch (state) {
    case ChildState.CHILD_STATE_DISPATCHED:
      return "dispatched";
    case ChildState.CHILD_STATE_SUCCEEDED:
      return "succeeded";
    case ChildState.CHILD_STATE_FAILED:
      return "failed";
    case ChildState.CHILD_STATE_INTERRUPTED:
      return "interrupted";
    case ChildState.CHILD_STATE_UNKNOWN:
      return "unknown";
    default:
      throw invalidField("operation.record_child.state", "is not a known state");
  }
}

function backgroundState(state: BackgroundState): string {
  switch (state) {
    case BackgroundState.BACKGROUND_STATE_RUNNING:
      return "running";
    case BackgroundState.BACKGROUND_STATE_EXITED:
      return "exited";
    default:
      throw invalidField("operation.record_background_process.state", "is not a known state");
  }
}
