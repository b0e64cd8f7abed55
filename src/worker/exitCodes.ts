/** Exit codes of a worker process. Anything else, or a signal, is a crash. */
export const EXIT_CODES = Object.freeze({
  /** The owner took the result and FinishExecution has answered. Never used otherwise. */
  finished: 0,
  /** The worker could not go on; it has sent an `error` frame where it still could. */
  internal: 70,
  /** No token arrived on stdin: the launcher did not pass the launch pipe on. */
  launchPipe: 71,
  /** The owner refused the worker, or closed the stream for breaking the protocol. */
  refused: 72,
  /** The owner let go of a worker that had no unfinished turn, or is going down. */
  released: 73,
  /** The owner is gone, or could not be reached. */
  ownerGone: 74,
} as const);

/** One of {@link EXIT_CODES}. */
export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];
