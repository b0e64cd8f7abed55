import type { Clock } from "../base/clock.js";
import { cutToCodePoints } from "../base/codePoints.js";
import type { TurnEvent } from "../gen/talaria/types/v1/event.js";
import { RpcError } from "../rpc/rpcError.js";
import type { TurnHooks } from "./hooks/turnHooks.js";
import { showArguments, showResult } from "../base/toolPayload.js";

/** A tool call of a runtime. */
export interface ToolCallRequest {
  /** The call's id as the model gave it; one is made where it gave none. */
  readonly id?: string;
  /** The tool's name. */
  readonly name: string;
  /** Arguments, JSON values. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /**
   * Does the work and returns the result as text. What it throws becomes the result of a failed call. It is given the call's id, also
   * where one was made.
   */
  readonly run: (signal: AbortSignal, callId: string) => Promise<string>;
}

/** How a tool call ended. */
export interface ToolOutcome {
  /** The call's id. */
  readonly id: string;
  /** The whole result, as the model gets it: neither cut nor redacted. */
  readonly result: string;
  /** Whether the tool failed. */
  readonly isError: boolean;
}

/** What {@link createToolCaller} needs. */
export interface ToolCallerOptions {
  readonly emit: (event: TurnEvent) => Promise<void>;
  /** The same; resolves when the event has left the process. */
  readonly announce: (event: TurnEvent) => Promise<void>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Removes secrets from what viewers see. */
  readonly redact: (text: string) => string;
  /** Commands that run around each call, with what viewers see of it; absent = none. */
  readonly hooks?: Pick<TurnHooks, "toolStarted" | "toolCompleted">;
}

const ID_LIMIT = 256;

/** A call's id as the viewers see it, which has a bound. */
export function shownCallId(id: string): string {
  return cutToCodePoints(id, ID_LIMIT);
}

/** Makes the function that runs tools between their events. Source: TurnContext.callTool. */
export function createToolCaller(options: ToolCallerOptions): (request: ToolCallRequest) => Promise<ToolOutcome> {
  let count = 0;
  return async (request) => {
    const { emit, announce, clock, signal, redact, hooks } = options;
    signal.throwIfAborted();
    count += 1;
    const id = request.id === undefined || request.id === "" ? `call_${String(count)}` : request.id;
    const toolCallId = shownCallId(id);
    const name = cutToCodePoints(request.name === "" ? "tool" : request.name, ID_LIMIT);
    const shown = showArguments(request.arguments, redact);
    // Before the tool does anything: if the worker dies in it, the owner must know that it may have had an effect.
    await announce({ event: { $case: "toolStarted", value: { toolCallId, name, ...shown } } });
    await hooks?.toolStarted({ callId: toolCallId, name, arguments: shown.arguments });
    const startedAt = clock.monotonic();
    const { result, isError } = await outcomeOf(request.run, signal, id);
    const durationMs = Math.max(0, Math.round(clock.monotonic() - startedAt));
    const end = showResult(result, redact);
    await hooks?.toolCompleted({
      callId: toolCallId,
      name,
      arguments: shown.arguments,
      result: end.result,
      isError,
      durationMs,
    });
    const value = { toolCallId, name, ...end, isError, durationMs: BigInt(durationMs) };
    await emit({ event: { $case: "toolCompleted", value } });
    return { id, result, isError };
  };
}

async function outcomeOf(
  run: ToolCallRequest["run"],
  signal: AbortSignal,
  callId: string,
): Promise<{ readonly result: string; readonly isError: boolean }> {
  try {
    return { result: await run(signal, callId), isError: false };
  } catch (error) {
    if (RpcError.is(error, "INTERNAL")) return { result: "The tool failed.", isError: true };
    return { result: error instanceof Error ? error.message : String(error), isError: true };
  }
}
