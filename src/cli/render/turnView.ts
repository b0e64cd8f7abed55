import type { TurnEvent } from "../../gen/talaria/types/v1/event.js";
import { DeltaChannel } from "../../gen/talaria/types/v1/event.js";
import type { Terminal } from "../terminal.js";

/** Shows a turn as it goes: in a terminal text and tools as they come, piped the answer alone, at its end. */
export class TurnView {
  readonly #terminal: Pick<Terminal, "out">;
  readonly #live: boolean;
  #atLineStart = true;
  #wrote = false;

  constructor(terminal: Pick<Terminal, "out">, live: boolean) {
    this.#terminal = terminal;
    this.#live = live;
  }

  /** Shows one event. */
  show({ event }: TurnEvent): void {
    if (!this.#live) return;
    switch (event?.$case) {
      case "delta":
        if (event.value.channel === DeltaChannel.DELTA_CHANNEL_REASONING) break;
        this.#write(event.value.text);
        this.#wrote = true;
        break;
      case "toolStarted":
        this.breakLine();
        this.#write(`[${event.value.name}]\n`);
        break;
      case "toolCompleted":
        this.breakLine();
        this.#write(`[${event.value.name}: ${event.value.isError ? "failed" : "done"}]\n`);
        break;
      case undefined:
    }
  }

  /** Begins a line, where something else is about to be shown. */
  breakLine(): void {
    if (this.#live && !this.#atLineStart) this.#write("\n");
  }

  /** Ends the view. `answer` is what the turn was answered with; it is printed where it has not been. */
  finish(answer: string): void {
    if (this.#live && this.#wrote) this.breakLine();
    else if (answer !== "") this.#terminal.out(answer.endsWith("\n") ? answer : `${answer}\n`);
  }

  #write(text: string): void {
    if (text === "") return;
    this.#terminal.out(text);
    this.#atLineStart = text.endsWith("\n");
  }
}
