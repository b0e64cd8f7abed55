/** What a run of a tool is given. */
export interface ToolRun {
  /** The call's id, as the viewers see it. */
  readonly callId: string;
  /** Aborts when the turn is stopped. */
  readonly signal: AbortSignal;
}

/** A tool that a runtime offers to its model. */
export interface Tool {
  /** Name that the model calls it by, `[a-zA-Z0-9_-]{1,64}`. */
  readonly name: string;
  /** What it does, for the model. */
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /**
   * Does the work and returns the result as text for the model. What it throws becomes the result of a failed call; it checks its
   * arguments itself, since a model may send anything.
   */
  run(args: Readonly<Record<string, unknown>>, run: ToolRun): Promise<string>;
}

/** Tools that hold something open, such as a connection to a server. */
export interface ToolSource {
  readonly tools: readonly Tool[];
  /** What could not be had, each a sentence for people; it fails no turn. */
  readonly problems: readonly string[];
  /** Ends what was opened. Never throws. */
  close(): Promise<void>;
}
