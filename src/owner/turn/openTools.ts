import { exceedsCodePoints } from "../../base/codePoints.js";
import { LIMITS } from "../../base/limits.js";
import type { ToolStarted, TurnEvent } from "../../gen/talaria/types/v1/event.js";
import { RpcError } from "../../rpc/rpcError.js";

/** Most events in one frame. */
const MAX_EVENTS = 4_096;
/** Longest text of one delta, bytes. */
const MAX_DELTA_BYTES = 262_144;

/** Longest id and name of a tool call, code points. */
const MAX_NAME = 256;
/** Most tool calls that are open at once. */
const MAX_OPEN = 4_096;

/** The tool calls of a turn that have begun and not ended. While one is open a loss may have left something behind. */
export class OpenTools {
  readonly #open = new Map<string, number>();

  /** Number of open calls. */
  get count(): number {
    let count = 0;
    for (const one of this.#open.values()) count += one;
    return count;
  }

  /** Takes in a batch. @throws RpcError FRAME_INVALID for events that break the contract's bounds. */
  add(events: readonly TurnEvent[]): void {
    if (events.length === 0 || events.length > MAX_EVENTS) throw invalid("a batch has 1 to 4,096 events");
    for (const { event } of events) {
      switch (event?.$case) {
        case "delta":
          if (event.value.text === "" || Buffer.byteLength(event.value.text) > MAX_DELTA_BYTES) {
            throw invalid("a delta has 1 to 262,144 bytes");
          }
          break;
        case "toolStarted": {
          const id = checkedName(event.value);
          this.#open.set(id, (this.#open.get(id) ?? 0) + 1);
          if (this.#open.size > MAX_OPEN) throw invalid("at most 4,096 tool calls are open at once");
          break;
        }
        case "toolCompleted":
          if (Buffer.byteLength(event.value.result) > LIMITS.toolResultBytes)
            throw invalid("a tool result is too long");
          this.#close(checkedName(event.value));
          break;
        case undefined:
          throw invalid("an event has no known content");
      }
    }
  }

  #close(id: string): void {
    const left = (this.#open.get(id) ?? 0) - 1;
    if (left > 0) this.#open.set(id, left);
    else this.#open.delete(id);
  }
}

/** The id of a call whose id and name are within their bounds. */
function checkedName({ toolCallId, name }: Pick<ToolStarted, "toolCallId" | "name">): string {
  if (exceedsCodePoints(toolCallId, MAX_NAME) || exceedsCodePoints(name, MAX_NAME)) {
    throw invalid("a tool call's id and name have at most 256 code points");
  }
  return toolCallId;
}

function invalid(what: string): RpcError {
  return new RpcError("FRAME_INVALID", { message: `A frame breaks the contract: ${what}.` });
}
