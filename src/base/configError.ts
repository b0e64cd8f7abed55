/** Where and what is wrong in a configuration file, in the terms of the person who wrote it. */
export interface ConfigProblem {
  /** Path of the file. */
  readonly file: string;
  /** Line, from 1; absent where the file as a whole is meant. */
  readonly line?: number;
  /** Key path with dots, such as `listeners.peers.port`; absent where the file as a whole is meant. */
  readonly key?: string;
  /** What is wrong, without the value, which may be a secret. */
  readonly problem: string;
  /** What to do, where that is known, such as the nearest known key. */
  readonly hint?: string;
}

/** A configuration that cannot be used. The message names file, line, key, problem and hint. */
export class ConfigError extends Error implements ConfigProblem {
  override readonly name = "ConfigError";
  readonly file: string;
  readonly line?: number;
  readonly key?: string;
  readonly problem: string;
  readonly hint?: string;

  constructor(at: ConfigProblem, options?: ErrorOptions) {
    super(describe(at), options);
    this.file = at.file;
    this.problem = at.problem;
    if (at.line !== undefined) this.line = at.line;
    if (at.key !== undefined) this.key = at.key;
    if (at.hint !== undefined) this.hint = at.hint;
  }
}

function describe({ file, line, key, problem, hint }: ConfigProblem): string {
  const place = line === undefined ? file : `${file}:${String(line)}`;
  const subject = key === undefined ? "" : ` ${key}:`;
  return `${place}:${subject} ${problem}${hint === undefined ? "" : ` (${hint})`}`;
}
