import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { z } from "zod";

import { ConfigError } from "../../base/configError.js";

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

const text = z.string().min(1);
const schema = z.strictObject({
  current: text.optional(),
  contexts: z.record(
    text,
    z.strictObject({
      address: text.optional(),
      home: text.optional(),
      token: text.optional(),
      ca: text.optional(),
      pin: text.optional(),
    }),
  ),
});

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
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data as Contexts;
  const key = checked.error.issues[0]?.path.map(String).join(".") ?? "";
  throw new ConfigError({ file, problem: "is not valid", hint, ...(key === "" ? {} : { key }) });
}

/** Replaces the contexts, in a file that its owner alone may read, in a directory of the same kind where there was none. */
export function writeContexts(file: string, contexts: Contexts): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${String(process.pid)}`;
  try {
    writeFileSync(temporary, `${JSON.stringify(contexts, undefined, 2)}\n`, { mode: 0o600 });
    chmodSync(temporary, 0o600);
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
}
