import { toWellFormed } from "../../../base/codePoints.js";
import { createDeferred, type Deferred } from "../../../base/deferred.js";
import { cutToBytes } from "../../../base/toolPayload.js";
import { ConversationMessage, MessageRole } from "../../../gen/talaria/types/v1/conversation.js";
import type { SessionUpdate, ToolCallUpdate } from "../../packages/acpPackages.js";
import { DeltaChannel, type TurnContext } from "../../turnContext.js";
import { ROW_BOUNDS } from "../conversation/rowBounds.js";
import { textOfBlock, toolResult, toolView, type ToolView } from "./toolView.js";

/** Bytes of updates that wait before the agent is no longer read. */
const WAITING_BYTES = 262_144;
/** Longest text and thoughts between two tool calls, UTF-16 units: no agent says so much, and one without end would take all memory. */
const SAID_UNITS = 16 * 1_048_576;

interface OpenTool {
  readonly view: ToolView;
  readonly end: Deferred<string>;
  /** Resolves when its second event is on its way. */
  readonly told: Promise<void>;
  last: ToolCallUpdate;
}

/** What an agent tells of its turn, passed on in its order: text, thoughts, tool calls; and kept in the session. */
export class TurnUpdates {
  readonly #context: TurnContext;
  readonly #tools = new Map<string, OpenTool>();
  readonly #ended = new Set<string>();
  #chain: Promise<void> = Promise.resolve();
  #waiting = 0;
  /** What was said since the last tool call, and thought. */
  #text = "";
  #reasoning = "";
  #said = false;

  constructor(context: TurnContext) {
    this.#context = context;
  }

  /** The answer: what was said after the last tool call. */
  get text(): string {
    return this.#text;
  }

  /** Takes in an update; what it leads to happens after everything before it. */
  take(update: SessionUpdate): void {
    const bytes = Buffer.byteLength(JSON.stringify(update));
    this.#waiting += bytes;
    void this.#queue(() => this.#tell(update)).then(() => {
      this.#waiting -= bytes;
    });
  }

  /** Resolves when the agent may be read on: viewers set the pace. @throws Error where it says more than any agent has to say. */
  async behind(): Promise<void> {
    if (this.#waiting > WAITING_BYTES) await this.#chain;
    if (this.#text.length + this.#reasoning.length > SAID_UNITS)
      throw new Error("it says more than 16 MiB in one answer");
  }

  /** Says that a tool call is about to do its work, where the agent has not said so itself. */
  begin(call: ToolCallUpdate): Promise<void> {
    return this.#queue(async () => {
      this.#open(call);
    });
  }

  /** Waits for everything so far, and ends the tool calls that the agent left open. */
  async close(): Promise<void> {
    await this.#chain;
    // What was said beside a call that nobody ends is the answer all the same.
    const [text, reasoning] = [this.#text, this.#reasoning];
    this.#text = this.#reasoning = "";
    for (const [id, tool] of [...this.#tools]) {
      await this.#end(id, tool, {
        ...tool.last,
        status: "failed",
        content: null,
        rawOutput: "The agent did not say how it ended.",
      });
    }
    [this.#text, this.#reasoning] = [text, reasoning];
  }

  #queue(work: () => Promise<void>): Promise<void> {
    this.#chain = this.#chain.then(work).catch((error: unknown) => {
      // A turn that is stopped tells nothing more.
      if (!this.#context.signal.aborted) {
        this.#context.log.warn("an update of the agent was lost", { cause: String(error) });
      }
    });
    return this.#chain;
  }

  async #tell(update: SessionUpdate): Promise<void> {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        return this.#say(textOfBlock(update.content));
      case "agent_thought_chunk": {
        const thought = textOfBlock(update.content);
        this.#reasoning += thought;
        return this.#context.emitText(thought, DeltaChannel.DELTA_CHANNEL_REASONING);
      }
      case "tool_call":
      case "tool_call_update":
        return this.#toolChanged(update);
      default:
        // Plans, modes, commands and the like are the agent's own.
        return undefined;
    }
  }

  async #say(text: string): Promise<void> {
    if (text === "") return;
    // What follows a tool call is a paragraph of its own.
    const shown = this.#text === "" && this.#said ? `\n\n${text}` : text;
    this.#text += text;
    this.#said = true;
    await this.#context.emitText(shown);
  }

  async #toolChanged(call: ToolCallUpdate): Promise<void> {
    const tool = this.#open(call);
    if (tool === undefined) return;
    tool.last = merge(tool.last, call);
    if (call.status === "completed" || call.status === "failed") await this.#end(call.toolCallId, tool, tool.last);
  }

  #open(call: ToolCallUpdate): OpenTool | undefined {
    const id = call.toolCallId;
    const known = this.#tools.get(id);
    if (known !== undefined || this.#ended.has(id)) return known;
    const view = toolView(call);
    const end = createDeferred<string>();
    // Nobody waits for it where the turn was stopped before the call could begin.
    end.promise.catch(() => undefined);
    const told = this.#context.callTool({ id, ...view, run: () => end.promise }).then(
      () => undefined,
      () => undefined,
    );
    const tool: OpenTool = { view, end, told, last: call };
    this.#tools.set(id, tool);
    return tool;
  }

  async #end(id: string, tool: OpenTool, call: ToolCallUpdate): Promise<void> {
    this.#tools.delete(id);
    this.#ended.add(id);
    const result = toWellFormed(toolResult(call));
    if (call.status === "failed") tool.end.reject(new Error(result === "" ? "The tool failed." : result));
    else tool.end.resolve(result);
    await tool.told;
    await this.#keep(id, tool.view, result);
  }

  /** Writes the call and its result down, with what was said before it. */
  async #keep(id: string, view: ToolView, result: string): Promise<void> {
    const json = JSON.stringify(view.arguments);
    const argumentsJson = Buffer.byteLength(json) > ROW_BOUNDS.argumentBytes ? "{}" : json;
    const asked = ConversationMessage.fromPartial({
      role: MessageRole.MESSAGE_ROLE_ASSISTANT,
      text: cutToBytes(toWellFormed(this.#text), ROW_BOUNDS.textBytes),
      reasoning: cutToBytes(toWellFormed(this.#reasoning), ROW_BOUNDS.textBytes),
      toolCalls: [{ toolCallId: id, name: view.name, argumentsJson }],
    });
    const answered = ConversationMessage.fromPartial({
      role: MessageRole.MESSAGE_ROLE_TOOL,
      text: cutToBytes(result, ROW_BOUNDS.textBytes),
      toolCallId: id,
      toolName: view.name,
    });
    this.#text = "";
    this.#reasoning = "";
    await this.#context.store.persist({ $case: "appendMessages", value: { messages: [asked, answered] } });
  }
}

function merge(before: ToolCallUpdate, change: ToolCallUpdate): ToolCallUpdate {
  const told = Object.entries(change).filter(([, value]) => value !== undefined && value !== null);
  return { ...before, ...(Object.fromEntries(told) as Partial<ToolCallUpdate>) };
}
