import { cutToBytes } from "../../../base/toolPayload.js";
import { RpcError } from "../../../rpc/rpcError.js";
import { jsonObject } from "../../jsonObject.js";
import type { Tool } from "../../tools/tool.js";
import type { TurnContext } from "../../turnContext.js";
import type { RequestedCall } from "./streamAnswer.js";

/** Longest result that a model is given, bytes. */
const RESULT_BYTES = 100_000;
/** Calls that run at the same time. */
const AT_ONCE = 8;

/** How one call of a round ended. */
export interface CallResult {
  readonly call: RequestedCall;
  /** What the model reads. */
  readonly text: string;
}

/** What {@link runToolRound} needs. */
export interface ToolRoundOptions {
  readonly context: Pick<TurnContext, "callTool" | "signal">;
  readonly tools: readonly Tool[];
  readonly calls: readonly RequestedCall[];
  /** Removes secrets from what is kept. */
  readonly hide: (text: string) => string;
  /** Told of each result as it comes, one at a time. */
  readonly onResult: (result: CallResult) => Promise<void>;
}

/**
 * Runs the calls of one answer, several at a time. A tool that does not heed the turn's Stop is left alone: its processes end with
 * the worker.
 * @throws the signal's reason once that aborts, after the calls that had begun are told of.
 */
export async function runToolRound(options: ToolRoundOptions): Promise<void> {
  const { calls, context } = options;
  const queue = [...calls];
  const lane = async (): Promise<void> => {
    for (let call = queue.shift(); call !== undefined; call = queue.shift()) {
      context.signal.throwIfAborted();
      await options.onResult({ call, text: await resultOf(call, options) });
    }
  };
  const lanes = Array.from({ length: Math.min(AT_ONCE, calls.length) }, lane);
  const ends = await Promise.allSettled(lanes);
  context.signal.throwIfAborted();
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

async function resultOf(call: RequestedCall, { context, tools, hide }: ToolRoundOptions): Promise<string> {
  const args = jsonObject(call.argumentsJson);
  const { result } = await context.callTool({
    id: call.id,
    name: call.name,
    arguments: args ?? {},
    run: async (signal) => {
      const tool = tools.find(({ name }) => name === call.name);
      if (tool === undefined) throw new Error(unknownTool(call.name, tools));
      if (args === undefined) throw new Error("The arguments are not a JSON object; call it again with one.");
      return bounded(hide(await untilAborted(tool.run(args, { callId: call.id, signal }), signal)));
    },
  });
  return bounded(hide(result));
}

function unknownTool(name: string, tools: readonly Tool[]): string {
  const names = tools.map((tool) => tool.name).join(", ");
  return `There is no tool ${JSON.stringify(name.slice(0, 64))}; there is: ${names === "" ? "none" : names}.`;
}

function bounded(text: string): string {
  const cut = cutToBytes(text, RESULT_BYTES);
  return cut.length === text.length ? text : `${cut}\n[… cut after ${String(RESULT_BYTES)} bytes]`;
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => {
      reject(new RpcError("TURN_STOPPED", { message: "The turn was stopped before the tool was done." }));
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener("abort", onAbort);
    });
  });
}
