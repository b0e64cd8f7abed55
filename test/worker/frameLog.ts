import type { AttachRequest } from "../../src/gen/talaria/owner/v1/owner_service.js";
import type { WorkerFrame } from "../../src/worker/frameSender.js";

type Kind = WorkerFrame["$case"];
type ValueOf<K extends Kind> = Extract<WorkerFrame, { $case: K }>["value"];

/** How long a test waits for an event, milliseconds. */
export const WAIT_MS = 15_000;

/** The frames of one worker in the order of their arrival, to be waited for. */
export class FrameLog {
  /** Everything so far. */
  readonly frames: AttachRequest[] = [];
  #taken = 0;
  #wake: (() => void)[] = [];

  /** Takes in a frame. */
  add(frame: AttachRequest): void {
    this.frames.push(frame);
    this.wake();
  }

  /** Makes waiters look again. */
  wake(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const run of wake) run();
  }

  /** The kinds that have come, for reports. */
  get kinds(): readonly string[] {
    return this.frames.map(({ frame }) => frame?.$case ?? "empty");
  }

  /** The text of every answer delta so far. */
  get text(): string {
    return this.frames
      .flatMap(({ frame }) => (frame?.$case === "events" ? frame.value.events : []))
      .map(({ event }) => (event?.$case === "delta" && event.value.channel !== 2 ? event.value.text : ""))
      .join("");
  }

  /** Waits for the next frame of a kind after those already waited for; others are passed over. */
  async next<K extends Kind>(kind: K): Promise<ValueOf<K>> {
    return this.until(`frame ${kind}`, () => {
      for (let at = this.#taken; at < this.frames.length; at++) {
        const frame = this.frames[at]?.frame;
        if (frame?.$case !== kind) continue;
        this.#taken = at + 1;
        return { value: frame.value as ValueOf<K> };
      }
      return undefined;
    });
  }

  /** Waits until `look` finds something; looks at every frame. */
  async until<T>(what: string, look: () => { readonly value: T } | undefined): Promise<T> {
    const deadline = Date.now() + WAIT_MS;
    for (;;) {
      const found = look();
      if (found !== undefined) return found.value;
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`no ${what}; so far: ${this.kinds.join(", ") || "nothing"}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }
}
