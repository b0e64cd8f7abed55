/** A home that cannot be used, or not safely: what is wrong and what to do about it. */
export class HomeError extends Error {
  override readonly name = "HomeError";
  /** The offending path. */
  readonly path: string;
  /** What the person can do. */
  readonly hint: string;

  constructor(path: string, problem: string, hint: string, options?: ErrorOptions) {
    super(`${path}: ${problem} (${hint})`, options);
    this.path = path;
    this.hint = hint;
  }
}
