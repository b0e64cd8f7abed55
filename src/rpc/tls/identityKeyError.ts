/** Why an identity is not used. Every problem needs a person: nothing is repaired silently, a changed key breaks pins. */
export type IdentityKeyProblem =
  /** The folder or file is a symbolic link, or not of the expected kind. */
  | "not_plain"
  /** Belongs to another user. */
  | "owner"
  /** Others have rights on it that they must not have. */
  | "mode"
  /** The contents cannot be read as what they should be, or are not P-256. */
  | "malformed"
  /** The certificate is of another key. */
  | "mismatch";

/** Thrown when a home's identity key or its certificate must not be used. */
export class IdentityKeyError extends Error {
  override readonly name = "IdentityKeyError";
  /** The rule that was broken. */
  readonly problem: IdentityKeyProblem;
  /** File or folder that broke it. */
  readonly path: string;

  /**
   * @param problem the rule that was broken
   * @param path file or folder that broke it
   * @param explanation what is wrong and how to repair it, one sentence, never key material
   */
  constructor(problem: IdentityKeyProblem, path: string, explanation: string) {
    super(`${path}: ${explanation}`);
    this.problem = problem;
    this.path = path;
  }
}
