import { mkdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { ConfigError } from "../../base/configError.js";
import { replaceFile } from "../replaceFile.js";

/** A gateway under a name. */
export interface GatewayContext {
  /** `unix:<path>`, `<host>:<port>` or `tls:<host>:<port>`; absent where a home is meant. */
  readonly address?: string;
  /** A home of this machine, absolute. */
  readonly home?: string;
  /** Token for TCP. */
  readonly token?: string;
  /** File of the certificates that may have signed the gateway's, absolute. */
  readonly ca?: string;
  /** Pin of the gateway's key. */
  readonly pin?: string;
}

/** The contexts of a user. */
export interface Contexts {
  /** The one in use where a command names none; absent = this user's own home. */
  readonly current?: string;
  readonly contexts: Readonly<Record<string, GatewayContext>>;
}

const FIELDS: ReadonlySet<string> = new Set<keyof GatewayContext>(["address", "home", "token", "ca", "pin"]);

/** Path of a user's contexts: in `$TALARIA_CONFIG_DIR`, else `talaria/` of `$XDG_CONFIG_HOME`, else `~/.config/talaria/`. */
export function contextsPath(env: NodeJS.ProcessEnv, userHome: string = homedir()): string {
  const own = env["TALARIA_CONFIG_DIR"];
  if (own) return join(resolve(own), "contexts.json");
  const shared = env["XDG_CONFIG_HOME"];
  return join(shared ? resolve(shared) : join(userHome, ".config"), "talaria", "contexts.json");
}

/** Reads the contexts; a missing file holds none. @throws ConfigError where it cannot be used, or others may read it. */
export function readContexts(file: string): Contexts {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return { contexts: {} };
  if ((stat.mode & 0o077) !== 0) {
    throw new ConfigError({ file, problem: "holds tokens and may be read by others", hint: `chmod 600 ${file}` });
  }
  const hint = "correct it, or remove it and add the contexts again";
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new ConfigError({ file, problem: "is not JSON", hint }, { cause: error });
  }
  const key = wrongKey(value);
  if (key === undefined) return value as Contexts;
  throw new ConfigError({ file, problem: "is not valid", hint, ...(key === "" ? {} : { key }) });
}

/** The key that is wrong, empty for the whole; undefined where it is right. By hand: every command reads this file. */
function wrongKey(value: unknown): string | undefined {
  if (!isMap(value)) return "";
  const { current, contexts, ...others } = value;
  const [other] = Object.keys(others);
  if (other !== undefined) return other;
  if (current !== undefined && !isText(current)) return "current";
  if (!isMap(contexts)) return "contexts";
  for (const [name, context] of Object.entries(contexts)) {
    if (!isMap(context)) return `contexts.${name}`;
    const wrong = Object.entries(context).find(([field, one]) => !FIELDS.has(field) || !isText(one));
    if (wrong !== undefined) return `contexts.${name}.${wrong[0]}`;
  }
  return undefined;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

/** Replaces the contexts, in a file that its owner alone may read, in a directory of the same kind where there was none. */
export function writeContexts(file: string, contexts: Contexts): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  replaceFile(file, `${JSON.stringify(contexts, undefined, 2)}\n`);
}
