import type { TurnEvent } from "../../gen/talaria/types/v1/event.js";
import { RunningText } from "../watch/runningText.js";
import { OpenTools } from "./openTools.js";
import { eventsUpdate } from "./shownEvents.js";
import type { TurnParts } from "./turnParts.js";

/** The events of a running turn: what they tell of its tool calls and of its answer, and their way to viewers. */
export class HeardEvents {
  readonly #parts: Pick<TurnParts, "hub" | "secrets">;
  readonly #executionId: string;
  readonly #sessionId: string;
  readonly #tools = new OpenTools();
  readonly #text = new RunningText();

  constructor(parts: Pick<TurnParts, "hub" | "secrets">, executionId: string, sessionId: string) {
    this.#parts = parts;
    this.#executionId = executionId;
    this.#sessionId = sessionId;
  }

  /** Takes in a batch and shows it. @throws RpcError FRAME_INVALID for events that break the contract's bounds. */
  hear(events: TurnEvent[]): void {
    const { hub, secrets } = this.#parts;
    this.#tools.add(events);
    this.#text.add(events);
    hub.publish(this.#sessionId, eventsUpdate(this.#executionId, events, secrets));
  }

  /** Number of tool calls that have begun and not ended. */
  get openTools(): number {
    return this.#tools.count;
  }

  /** The answer as far as it has been streamed. */
  get text(): string {
    return this.#text.text;
  }
}
