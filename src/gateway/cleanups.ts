/** What must be undone at the end, in reverse order of its making. */
export class Cleanups {
  readonly #steps: (() => unknown)[] = [];

  /** Adds a step; it may return a promise. */
  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Runs every step once, the last added first. @throws AggregateError of what went wrong, after all have run. */
  async run(): Promise<void> {
    const errors: unknown[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, "the gateway did not end cleanly");
  }
}
