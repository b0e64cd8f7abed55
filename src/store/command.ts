import type { Tx } from "./sql.js";

/** Keeps promises out of results: a command ends before its transaction does. */
type NotPromise<T> = T extends PromiseLike<unknown> ? never : T;

/**
 * A named change of the store. Input and result are plain data (what `structuredClone` takes), so that the writer may live
 * in another thread. `run` depends on the transaction and its input alone and touches nothing else: it may run
 * again where its batch could not be kept. What it throws undoes its own changes and reaches its caller.
 */
export interface Command<Input, Result> {
  /** Unique, dotted, such as `delivery.accept`; appears in logs and metrics. */
  readonly name: string;
  /** Does the work. */
  readonly run: (tx: Tx, input: Input) => NotPromise<Result>;
}

/** Declares a command. */
export function defineCommand<Input, Result>(command: Command<Input, Result>): Command<Input, Result> {
  return Object.freeze(command);
}
