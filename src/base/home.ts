import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

import { HomeError } from "./homeError.js";
import { LIMITS } from "./limits.js";

/** Every path of a home; all absolute. */
export interface HomePaths {
  /** The home itself. */
  readonly root: string;
  /** The gateway's configuration, `talaria.yaml`. */
  readonly configFile: string;
  /** One folder per agent. */
  readonly agentsDir: string;
  /** The store. */
  readonly database: string;
  /** The database whose exclusive transaction holds the home. */
  readonly lockDatabase: string;
  /** Sockets; 0700. Elsewhere if `run_dir` says so. */
  readonly runDir: string;
  /** Where clients connect. */
  readonly gatewaySocket: string;
  /** Where workers connect. */
  readonly ownerSocket: string;
  /** The home's identity key and certificates; 0700. */
  readonly tlsDir: string;
  /** Log files; 0700. */
  readonly logsDir: string;
  /** One folder per execution for results on their way; 0700. */
  readonly outboxesDir: string;
  /** Uploaded files, each named by its digest; 0700. */
  readonly attachmentsDir: string;
  /** Backups that a gateway has made; 0700. */
  readonly backupsDir: string;
  /** What can be made again, such as compiled code; 0700. */
  readonly cacheDir: string;
}

/** The home's root: `TALARIA_HOME` if set and not empty, else `~/.talaria`. */
export function homeRoot(env: NodeJS.ProcessEnv = process.env, userHome: string = homedir()): string {
  const configured = env["TALARIA_HOME"];
  return configured ? resolve(configured) : join(userHome, ".talaria");
}

/**
 * The paths of the home at `root`.
 * @param runDir the `run_dir` setting; relative ones are taken from the root.
 */
export function homePaths(root: string, runDir?: string): HomePaths {
  const base = resolve(root);
  const run = runDir === undefined ? join(base, "run") : isAbsolute(runDir) ? resolve(runDir) : resolve(base, runDir);
  return {
    root: base,
    configFile: join(base, "talaria.yaml"),
    agentsDir: join(base, "agents"),
    database: join(base, "state.db"),
    lockDatabase: join(base, "lock.db"),
    runDir: run,
    gatewaySocket: join(run, "gateway.sock"),
    ownerSocket: join(run, "owner.sock"),
    tlsDir: join(base, "tls"),
    logsDir: join(base, "logs"),
    outboxesDir: join(base, "outboxes"),
    attachmentsDir: join(base, "attachments"),
    backupsDir: join(base, "backups"),
    cacheDir: join(base, "cache"),
  };
}

/**
 * Checks that the kernel will take this socket path.
 * @throws HomeError for more than 100 bytes, naming the `run_dir` setting.
 */
export function checkSocketPath(path: string): void {
  const bytes = Buffer.byteLength(path, "utf8");
  if (bytes <= LIMITS.socketPathBytes) return;
  throw new HomeError(
    path,
    `socket path of ${String(bytes)} bytes, at most ${String(LIMITS.socketPathBytes)} work`,
    "set run_dir in talaria.yaml to a shorter directory",
  );
}
