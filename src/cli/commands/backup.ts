import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";

import { systemClock } from "../../base/clock.js";
import { loadGatewayConfig } from "../../base/config/gatewayConfig.js";
import { ConfigError } from "../../base/configError.js";
import { systemRandom } from "../../base/random.js";
import { AdminServiceService, type BackupDone } from "../../gen/talaria/gateway/v1/admin_service.js";
import { fromTimestamp } from "../../rpc/wire/times.js";
import { backupName } from "../../gateway/storage/backupFormat.js";
import { backupHome } from "../../gateway/storage/backupHome.js";
import { pruneBackups, type Pruning } from "../../gateway/storage/pruneBackups.js";
import { startProblem } from "../../gateway/startProblem.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import { endpointOf, type GatewayClient } from "../gatewayClient.js";
import { homeOf } from "../homeOf.js";
import { moveFile } from "../moveFile.js";

const SECRET = "It holds the home's keys and transcripts: keep it as you keep those.";

/**
 * Saves a home in one file: through its gateway where one runs, which records who asked for it; else by reading its files.
 * @param file where nothing is yet; default a file in the home's folder `backups`
 * @throws CliError NOT_FOUND, ALREADY_EXISTS and others; RpcError.
 */
export async function backup(context: CommandContext, file?: string): Promise<void> {
  if (file !== undefined && existsSync(file)) {
    throw new CliError("ALREADY_EXISTS", `${file} is there already.`, "Name a file that is not there yet.");
  }
  const elsewhere = endpointOf(context.options, context.terminal.env).kind === "address";
  if (elsewhere && file !== undefined) {
    throw new CliError(
      "INVALID_FIELD",
      "A gateway that is reached by its address writes its backups in its own home.",
      "Leave the file out, or name a home of this machine with --home.",
    );
  }
  if (file !== undefined) checkFolder(dirname(file));
  const gateway = await running(context, elsewhere);
  if (gateway === undefined) await backupFiles(context, file);
  else await backupServed(context, gateway, file);
}

/** Before a backup is made that could not be put there. @throws CliError NOT_FOUND, STORAGE_UNAVAILABLE. */
function checkFolder(folder: string): void {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (caught) {
    const { code = "unknown error" } = caught as NodeJS.ErrnoException;
    const reason = code === "ENOENT" || code === "ENOTDIR" ? "NOT_FOUND" : "STORAGE_UNAVAILABLE";
    throw new CliError(reason, `Nothing can be written to ${folder}: ${code}.`, "Name a folder that is there.", {
      cause: caught,
    });
  }
}

/** The gateway that is asked; undefined where none runs on the home. */
async function running(context: CommandContext, elsewhere: boolean): Promise<GatewayClient | undefined> {
  try {
    return await context.gateway();
  } catch (caught) {
    if (elsewhere) throw caught;
    // A home is saved by its files also where its configuration is wrong, which may have to be mended from the backup.
    if (!(caught instanceof ConfigError) && !(caught instanceof CliError && caught.reason === "UNAVAILABLE"))
      throw caught;
    return undefined;
  }
}

async function backupServed(context: CommandContext, gateway: GatewayClient, file: string | undefined): Promise<void> {
  const request = { requestId: context.newRequestId(), name: freshName(), takenAway: file !== undefined };
  let done: BackupDone | undefined;
  for await (const { step } of gateway.stream(AdminServiceService.backup, request)) {
    if (step?.$case === "done") done = step.value;
    else if (step !== undefined && context.terminal.outIsTerminal && step.value.bytes > 0n) {
      context.terminal.err(`${(Number(step.value.bytes) / 1_048_576).toFixed(1)} MiB`);
    }
  }
  if (done === undefined)
    throw new CliError("INTERNAL", "The gateway did not say that it was done.", "Look at its log.");
  if (file !== undefined) takeAway(done.path, file);
  const { path, bytes, madeAt, homeId, epoch, version, schema, format, removed } = done;
  const at = fromTimestamp(madeAt);
  const facts = {
    file: file ?? path,
    format,
    madeAt: at === undefined ? "" : new Date(at).toISOString(),
    version,
    homeId,
    epoch: Number(epoch),
    schema,
    bytes: Number(bytes),
    removed,
  };
  context.print(facts, () => report(`The home was saved to ${facts.file} by its gateway.`, removed));
}

/** Puts a whole backup where it was wanted. @throws CliError that says where it is, where it cannot be put there. */
function takeAway(path: string, file: string): void {
  try {
    moveFile(path, file);
  } catch (caught) {
    const { code = "unknown error" } = caught as NodeJS.ErrnoException;
    const hint = `It is whole, and stays at ${path}: move it yourself, or remove it.`;
    const reason = code === "ENOSPC" ? "STORAGE_FULL" : "STORAGE_UNAVAILABLE";
    throw new CliError(reason, `The backup was made but cannot be put at ${file}: ${code}.`, hint, { cause: caught });
  }
}

async function backupFiles(context: CommandContext, file: string | undefined): Promise<void> {
  const { root, database, backupsDir, configFile } = homeOf(context);
  if (!existsSync(database)) {
    throw new CliError("NOT_FOUND", `There is no home that was served at ${root}.`, "Name it with --home.");
  }
  if (file === undefined) mkdirSync(backupsDir, { recursive: true, mode: 0o700 });
  const name = freshName();
  const target = file ?? join(backupsDir, name);
  const made = await backupHome(root, target, systemClock.now()).catch((caught: unknown) => {
    const problem = startProblem(caught);
    if (problem === undefined) throw caught;
    throw new CliError(problem.reason, problem.message, problem.hint, { cause: caught });
  });
  const { homeId } = made;
  const removed =
    file === undefined ? await prune(context, backupsDir, { keep: keptBy(configFile), made: name, homeId }) : [];
  context.print({ file: target, ...made, removed }, () => report(`${root} was saved to ${target}.`, removed));
}

/** How many backups a home is configured to keep; undefined where its configuration cannot be read. */
function keptBy(configFile: string): number | undefined {
  try {
    return loadGatewayConfig(configFile).backups.keep;
  } catch (caught) {
    if (caught instanceof ConfigError) return undefined;
    throw caught;
  }
}

/** Removes what is too many. That it cannot is said, and does not undo the backup. */
async function prune(
  { terminal }: CommandContext,
  folder: string,
  { keep, ...about }: Omit<Pruning, "keep"> & { readonly keep: number | undefined },
): Promise<readonly string[]> {
  try {
    if (keep !== undefined) return await pruneBackups(folder, { keep, ...about });
    terminal.err("No older backup was removed: talaria.yaml cannot be read. talaria config check names every problem.");
  } catch (caught) {
    terminal.err(`Older backups could not be removed: ${caught instanceof Error ? caught.message : String(caught)}`);
  }
  return [];
}

function report(saved: string, removed: readonly string[]): string {
  const gone = removed.length === 0 ? [] : [`Removed, as backups.keep says: ${removed.join(", ")}`];
  return [saved, ...gone, SECRET].join("\n");
}

function freshName(): string {
  return backupName(systemClock.now(), systemRandom.bytes(3));
}
