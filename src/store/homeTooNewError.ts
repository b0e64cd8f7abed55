/** The home was written by a later release; nothing of it was touched. */
export class HomeTooNewError extends Error {
  override readonly name = "HomeTooNewError";
  /** The database file. */
  readonly path: string;
  /** The schema version found. */
  readonly found: number;
  /** The latest version that this release knows. */
  readonly known: number;

  constructor(path: string, found: number, known: number) {
    super(
      `${path}: schema version ${String(found)} is newer than ${String(known)}, the latest known (use a later release)`,
    );
    this.path = path;
    this.found = found;
    this.known = known;
  }
}
