import { toWellFormed } from "../../../base/codePoints.js";
import { cutToBytes } from "../../../base/toolPayload.js";
import { ConversationMessage, MessageRole } from "../../../gen/talaria/types/v1/conversation.js";
import type { TurnStore } from "../../turnContext.js";
import { readRows } from "../conversation/readRows.js";
import { ROW_BOUNDS } from "../conversation/rowBounds.js";
import type { CallResult } from "./toolRound.js";
import type { RequestedCall } from "./streamAnswer.js";

/** Longest id that is kept, UTF-16 units; the contract takes 256 code points. */
const ID_LENGTH = 240;
/** Most calls of a row. */
const CALLS = 128;

/** The session's transcript as the turn sees it: what the store holds, and what the turn adds, in the store first. */
export class Transcript {
  readonly #store: TurnStore;
  readonly #executionId: string;
  #rows: ConversationMessage[] = [];

  constructor(store: TurnStore, executionId: string) {
    this.#store = store;
    this.#executionId = executionId;
  }

  /** The rows that no summary stands for, in order. */
  get rows(): readonly ConversationMessage[] {
    return this.#rows;
  }

  /** Reads it from the store. @throws RpcError. */
  async read(): Promise<void> {
    this.#rows = await readRows(this.#store);
  }

  /** Adds an answer that asks for calls, before any of them runs. @throws RpcError. */
  async addCalls(text: string, reasoning: string, calls: readonly RequestedCall[]): Promise<void> {
    await this.#append({
      role: MessageRole.MESSAGE_ROLE_ASSISTANT,
      text,
      reasoning: cutToBytes(reasoning, ROW_BOUNDS.textBytes),
      toolCalls: calls.map(({ id, name, argumentsJson }) => ({
        toolCallId: id,
        name: toWellFormed(name),
        argumentsJson: toWellFormed(argumentsJson),
      })),
    });
  }

  /** Adds what a tool answered. @throws RpcError. */
  async addResult({ call, text }: CallResult): Promise<void> {
    await this.#append({
      role: MessageRole.MESSAGE_ROLE_TOOL,
      text,
      toolCallId: call.id,
      toolName: toWellFormed(call.name),
    });
  }

  async #append(draft: Partial<ConversationMessage> & { readonly text: string }): Promise<void> {
    const text = cutToBytes(toWellFormed(draft.text), ROW_BOUNDS.textBytes);
    const message = ConversationMessage.fromPartial({ ...draft, text, executionId: this.#executionId });
    const { firstRow } = await this.#store.persist({ $case: "appendMessages", value: { messages: [message] } });
    this.#rows.push({ ...message, row: firstRow });
  }
}

/**
 * Makes calls fit the contract: a call beyond the bound is not made, arguments that are too long become text that is none, and an id
 * that is missing or used twice becomes one of its own. Pure.
 */
export function boundedCalls(calls: readonly RequestedCall[]): readonly RequestedCall[] {
  const used = new Set<string>();
  return calls.slice(0, CALLS).map(({ id, name, argumentsJson }, index) => {
    const given = toWellFormed(id).slice(0, ID_LENGTH);
    const own = given === "" || used.has(given) ? `${given}#${String(index + 1)}` : given;
    used.add(own);
    return {
      id: own,
      name: name.slice(0, 256),
      argumentsJson:
        Buffer.byteLength(argumentsJson) > ROW_BOUNDS.argumentBytes ? '"arguments too long"' : argumentsJson,
    };
  });
}
