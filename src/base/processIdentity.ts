/** Names one process for good within a boot: a number may be used again, a number with its birth may not. */
export interface ProcessIdentity {
  /** Process id. */
  readonly pid: number;
  /** Birth: clock ticks since boot on Linux, seconds since the epoch on macOS. Compare for equality only. */
  readonly birthTicks: bigint;
}

/** What the operating system says about a process. */
export interface ProcessFacts extends ProcessIdentity {
  /** Parent's process id; 0 where it has none. */
  readonly parentPid: number;
  /** State letter: `R` running, `S` sleeping, `Z` dead and not reaped, and others. */
  readonly state: string;
  /** Process group. */
  readonly processGroup: number;
  /** Session of terminals; 0 on macOS, where it is not read. */
  readonly session: number;
  /** User id of its owner. */
  readonly uid: number;
}
