import type { TurnEvent } from "../../gen/talaria/types/v1/event.js";
import { DeltaChannel } from "../../gen/talaria/types/v1/event.js";
import type { Terminal } from "../terminal.js";
import { printable } from "./printable.js";
import { visible } from "./visible.js";

/** What the view needs of a terminal. */
type ViewTerminal = Pick<Terminal, "out" | "paint" | "columns">;

/** Width of a terminal that does not say how wide it is, columns. */
const USUAL_COLUMNS = 80;

/** Shows a turn as it goes: in a terminal text and tools as they come, piped the answer alone, at its end. */
export class TurnView {
  readonly #terminal: ViewTerminal;
  readonly #live: boolean;
  #atLineStart = true;
  #wrote = false;
  #held: string[] | undefined;

  constructor(terminal: ViewTerminal, live: boolean) {
    this.#terminal = terminal;
    this.#live = live;
  }

  /** Shows one event. */
  show({ event }: TurnEvent): void {
    if (!this.#live) return;
    switch (event?.$case) {
      case "delta":
        if (event.value.channel === DeltaChannel.DELTA_CHANNEL_REASONING) break;
        this.#write(printable(event.value.text));
        this.#wrote = true;
        break;
      case "toolStarted": {
        const { name, arguments: given } = event.value;
        const text = given === undefined || Object.keys(given).length === 0 ? "" : ` ${JSON.stringify(given)}`;
        this.#tool(`[${name}]${text}`);
        break;
      }
      case "toolCompleted": {
        const { name, isError, durationMs, result } = event.value;
        const time = durationMs === 0n ? "" : ` in ${String(durationMs)} ms`;
        const first = result.split("\n").find((line) => line.trim() !== "") ?? "";
        this.#tool(`[${name}: ${isError ? "failed" : "done"}${time}]${first === "" ? "" : ` ${first}`}`);
        break;
      }
      case undefined:
    }
  }

  /** Shows a line about the turn that is no part of it. */
  note(text: string): void {
    if (this.#live) this.#tool(text);
  }

  /** Begins a line, where something else is about to be shown. */
  breakLine(): void {
    if (this.#live && !this.#atLineStart) this.#write("\n");
  }

  /** Begins a line and keeps back what is shown from here on, until {@link release}: a person is being asked. */
  hold(): void {
    this.breakLine();
    this.#held ??= [];
  }

  /** Shows what was kept back. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    if (held.length > 0) this.#terminal.out(held.join(""));
  }

  /** Ends the view. `answer` is what the turn was answered with; it is printed where it has not been. */
  finish(answer: string): void {
    this.release();
    if (this.#live && this.#wrote) this.breakLine();
    else if (answer !== "") {
      const shown = this.#live ? printable(answer) : answer;
      this.#terminal.out(shown.endsWith("\n") ? shown : `${shown}\n`);
    }
  }

  /** One line, cut to the width of the terminal. */
  #tool(text: string): void {
    this.breakLine();
    const width = (this.#terminal.columns ?? USUAL_COLUMNS) - 1;
    this.#write(`${this.#terminal.paint("out", ["dim"], visible(text, width))}\n`);
  }

  #write(text: string): void {
    if (text === "") return;
    if (this.#held === undefined) this.#terminal.out(text);
    else this.#held.push(text);
    this.#atLineStart = text.endsWith("\n");
  }
}
