import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { systemClock } from "../../base/clock.js";
import { systemRandom } from "../../base/random.js";
import { AdminServiceService, type BackupDone } from "../../gen/talaria/gateway/v1/admin_service.js";
import { fromTimestamp } from "../../rpc/wire/times.js";
import { backupHome } from "../../gateway/storage/backupHome.js";
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
  const gateway = await running(context, elsewhere);
  if (gateway === undefined) await backupFiles(context, file);
  else await backupServed(context, gateway, file);
}

/** The gateway that is asked; undefined where none runs on the home. */
async function running(context: CommandContext, elsewhere: boolean): Promise<GatewayClient | undefined> {
  try {
    return await context.gateway();
  } catch (caught) {
    if (elsewhere || !(caught instanceof CliError) || caught.reason !== "UNAVAILABLE") throw caught;
    return undefined;
  }
}

async function backupServed(context: CommandContext, gateway: GatewayClient, file: string | undefined): Promise<void> {
  const request = { requestId: context.newRequestId(), name: freshName() };
  let done: BackupDone | undefined;
  for await (const { step } of gateway.stream(AdminServiceService.backup, request)) {
    if (step?.$case === "done") done = step.value;
    else if (step !== undefined && context.terminal.outIsTerminal && step.value.bytes > 0n) {
      context.terminal.err(`${(Number(step.value.bytes) / 1_048_576).toFixed(1)} MiB`);
    }
  }
  if (done === undefined)
    throw new CliError("INTERNAL", "The gateway did not say that it was done.", "Look at its log.");
  if (file !== undefined) moveFile(done.path, file);
  const { path, bytes, madeAt, homeId, epoch, version, schema, format } = done;
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
  };
  context.print(facts, () => [`The home was saved to ${facts.file} by its gateway.`, SECRET].join("\n"));
}

async function backupFiles(context: CommandContext, file: string | undefined): Promise<void> {
  const { root, database, backupsDir } = homeOf(context);
  if (!existsSync(database)) {
    throw new CliError("NOT_FOUND", `There is no home that was served at ${root}.`, "Name it with --home.");
  }
  if (file === undefined) mkdirSync(backupsDir, { recursive: true, mode: 0o700 });
  const target = file ?? join(backupsDir, freshName());
  const made = await backupHome(root, target, systemClock.now()).catch((caught: unknown) => {
    const problem = startProblem(caught);
    if (problem === undefined) throw caught;
    throw new CliError(problem.reason, problem.message, problem.hint, { cause: caught });
  });
  context.print({ file: target, ...made }, () => [`${root} was saved to ${target}.`, SECRET].join("\n"));
}

function freshName(): string {
  const at = new Date(systemClock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  return `home-${at}-${systemRandom.bytes(3).toString("hex")}.tar.gz`;
}
