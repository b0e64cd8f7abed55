/** Another gateway holds the home. */
export class HomeLockedError extends Error {
  override readonly name = "HomeLockedError";
  /** The lock database. */
  readonly path: string;
  /** Process id of the holder, where it is known and alive. */
  readonly holderPid?: number;

  constructor(path: string, holderPid: number | undefined, options?: ErrorOptions) {
    const who = holderPid === undefined ? "another gateway" : `the gateway with process id ${String(holderPid)}`;
    super(`${path}: ${who} holds this home (stop it, or set TALARIA_HOME to another home)`, options);
    this.path = path;
    if (holderPid !== undefined) this.holderPid = holderPid;
  }
}
