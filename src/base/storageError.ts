/**
 * Why the store could not do its work: `full` (no room left; free some and try again), `unavailable`
 * (an I/O error, a lock or an overlong queue; try again later), `closed` (the gateway is stopping).
 */
export type StorageErrorKind = "full" | "unavailable" | "closed";

/** A failure of storage itself, as opposed to a command that refused its input. Nothing of the command was kept. */
export class StorageError extends Error {
  override readonly name = "StorageError";
  /** See {@link StorageErrorKind}. */
  readonly kind: StorageErrorKind;

  constructor(kind: StorageErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
