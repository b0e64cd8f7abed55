import { systemClock } from "../../../../base/clock.js";
import { seededRandom } from "../../../../base/testing/seededRandom.js";
import {
  ReadConversationResponse,
  type PersistResponse,
} from "../../../../gen/talaria/owner/v1/execution_store_service.js";
import { Bootstrap } from "../../../../gen/talaria/owner/v1/owner_service.js";
import { ConversationMessage, MessageRole } from "../../../../gen/talaria/types/v1/conversation.js";
import { RpcError } from "../../../../rpc/rpcError.js";
import type { ChatModel, ChatPart, ChatRequest } from "../../../packages/modelPackages.js";
import type { Operation } from "../../../storeClient.js";
import { createToolCaller } from "../../../toolCalls.js";
import type { Tool } from "../../../tools/tool.js";
import type { TurnContext } from "../../../turnContext.js";
import { CallBudget } from "../callBudget.js";
import { ModelCaller } from "../modelCaller.js";
import { ModelFailureError, type ModelFailure } from "../modelFailure.js";
import type { ModelEndpoint } from "../modelEndpoint.js";
import { AuxiliaryCalls } from "../recordAuxiliary.js";
import type { TurnWork } from "../runTurn.js";

/** One answer of a model: its parts, or the failure it ends with. */
export type BenchAnswer = readonly ChatPart[] | ModelFailure;

/** How {@link turnBench} is told what to make. */
export interface BenchOptions {
  readonly answers: readonly BenchAnswer[];
  readonly rows?: readonly Partial<ConversationMessage>[];
  readonly tools?: readonly Tool[];
  readonly input?: object;
  readonly limit?: number;
  readonly key?: string;
  /** How often the session's revision changes just before a summary is written. */
  readonly staleWrites?: number;
}

/** A turn whose store, model and tools live in memory. */
export interface TurnBench {
  readonly work: TurnWork;
  /** The transcript, compacted rows too. */
  readonly rows: ConversationMessage[];
  readonly requests: ChatRequest[];
  readonly operations: Operation[];
  readonly emitted: string[];
  readonly stop: () => void;
}

const EXECUTION = `exe_${"1".repeat(26)}`;

/** Parts that say a text. */
export const says = (text: string): readonly ChatPart[] => [
  { type: "text-delta", id: "t", delta: text },
  finish("stop"),
];

/** Parts that ask for calls. */
export const asks = (
  ...calls: readonly (readonly [id: string, name: string, input: string])[]
): readonly ChatPart[] => [
  ...calls.map(([toolCallId, toolName, input]) => ({ type: "tool-call" as const, toolCallId, toolName, input })),
  finish("tool-calls"),
];

/** A failure as an endpoint's refusal is judged. */
export const refuses = (reason: ModelFailure["reason"]): ModelFailure => ({
  reason,
  message: reason,
  retryable: false,
  again: false,
});

/** Makes a turn of an input that stands in the last row. */
export function turnBench(options: BenchOptions): TurnBench {
  const given = options.rows ?? [{ role: MessageRole.MESSAGE_ROLE_USER, text: "as stored" }];
  const rows = given.map((row, index) =>
    ConversationMessage.fromPartial({
      executionId: index === given.length - 1 ? EXECUTION : "exe_old",
      ...row,
      row: BigInt(index + 1),
    }),
  );
  const requests: ChatRequest[] = [];
  const operations: Operation[] = [];
  const emitted: string[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  const answers = [...options.answers];
  const model = {
    async doStream(request: ChatRequest) {
      requests.push(request);
      const answer = answers.shift() ?? refuses("PROVIDER_SERVER");
      if (!isParts(answer)) throw new ModelFailureError(answer);
      return { stream: ReadableStream.from(answer) };
    },
  } as unknown as ChatModel;
  const endpoint: ModelEndpoint = {
    ref: { provider: "bench", model: "bench", baseUrl: "", credential: "" },
    host: "bench",
    key: options.key ?? "",
    model,
  };
  let stale = options.staleWrites ?? 0;
  const persist = async (operation: Operation): Promise<PersistResponse> => {
    if (operation.$case === "compactConversation" && stale > 0) {
      stale -= 1;
      throw new RpcError("STALE_REVISION");
    }
    operations.push(operation);
    const firstRow = BigInt(rows.length + 1);
    apply(rows, operation);
    return { sequence: 1n, sessionRevision: BigInt(operations.length), firstRow, replayed: false };
  };
  const { input, ...assignment } = Bootstrap.fromPartial({
    executionId: EXECUTION,
    policy: { runtime: "openai" },
    input: { inputId: "inp", text: "the input", attempt: 1, ...options.input },
  });
  const context = {
    assignment: { ...assignment, input },
    signal,
    clock: systemClock,
    store: {
      persist,
      async *readConversation() {
        yield ReadConversationResponse.fromPartial({ messages: rows.filter(({ compacted }) => !compacted) });
      },
    },
    callTool: createToolCaller({
      emit: () => Promise.resolve(),
      announce: () => Promise.resolve(),
      clock: systemClock,
      signal,
      redact: (text) => text,
    }),
    emitText: async (text: string) => void emitted.push(text),
  } as unknown as TurnContext;
  const budget = new CallBudget(options.limit ?? 0);
  const auxiliary = new AuxiliaryCalls();
  const parts = {
    endpoints: [endpoint] as const,
    budget,
    signal,
    clock: systemClock,
    random: seededRandom(1),
    effort: undefined,
    trace: () => ({ traceparent: undefined, end: () => undefined }),
  };
  return {
    work: {
      context,
      endpoints: [endpoint],
      caller: new ModelCaller({ ...parts, onRequest: () => undefined }),
      quietCaller: new ModelCaller({
        ...parts,
        onRequest: (usage, at) => {
          auxiliary.add(usage, at);
        },
      }),
      auxiliary,
      budget,
      tools: options.tools ?? [],
      images: [],
    },
    rows,
    requests,
    operations,
    emitted,
    stop: () => {
      stopping.abort(new RpcError("TURN_STOPPED"));
    },
  };
}

function isParts(answer: BenchAnswer): answer is readonly ChatPart[] {
  return Array.isArray(answer);
}

function apply(rows: ConversationMessage[], operation: Operation): void {
  const add = (row: Partial<ConversationMessage>): void => {
    rows.push(ConversationMessage.fromPartial({ ...row, executionId: EXECUTION, row: BigInt(rows.length + 1) }));
  };
  if (operation.$case === "appendMessages") operation.value.messages.forEach(add);
  if (operation.$case !== "compactConversation") return;
  const { firstRow, lastRow, summary } = operation.value;
  for (const row of rows) if (row.row >= firstRow && row.row <= lastRow) row.compacted = true;
  add({ role: MessageRole.MESSAGE_ROLE_SYSTEM, text: summary });
}

function finish(reason: "stop" | "tool-calls"): ChatPart {
  return {
    type: "finish",
    finishReason: { unified: reason, raw: reason },
    usage: {
      inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: undefined },
      outputTokens: { total: 5, text: 5, reasoning: 0 },
      raw: {},
    },
  };
}
