import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

import { within } from "../../base/within.js";
import type { BackupDone, BackupRequest, BackupResponse } from "../../gen/talaria/gateway/v1/admin_service.js";
import { defineServerStream } from "../../rpc/harness/methods.js";
import { reasonError, RpcError } from "../../rpc/rpcError.js";
import { toTimestamp } from "../../rpc/wire/times.js";
import { requestIdField } from "../edge/fields.js";
import type { GatewayContext } from "../gatewayContext.js";
import { type Manifest, STAGE_PREFIX } from "./backupFormat.js";
import { backupHome } from "./backupHome.js";
import { pruneBackups } from "./pruneBackups.js";

/** Between two reports of how far a backup is, milliseconds; at each the disk is looked at. */
export const BACKUP_REPORT_MS = 1_000;

const nameField = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, "must match [A-Za-z0-9][A-Za-z0-9._-]{0,127}");

/** Makes `AdminService.Backup`: one at a time, into the home's own folder, for as long as the disk has room. */
export function backupMethod({
  paths,
  clock,
  storage,
  config,
}: Pick<GatewayContext, "paths" | "clock" | "storage" | "config">) {
  let running = false;
  clearLeftovers(paths.backupsDir);

  async function* backup(
    path: string,
    signal: AbortSignal,
    prune: (manifest: Manifest) => Promise<readonly string[]>,
  ): AsyncGenerator<BackupResponse> {
    const refusal = storage.problem(sizeOf(paths.database) * 2);
    if (refusal !== undefined) throw refusal;
    const end = new AbortController();
    const state = { packed: "" };
    const made = backupHome(paths.root, path, clock.now(), {
      signal: AbortSignal.any([signal, end.signal]),
      onPacking: (packed) => {
        state.packed = packed;
      },
    });
    try {
      for (let manifest: Manifest | undefined; manifest === undefined;) {
        yield { step: { $case: "progress", value: { bytes: BigInt(sizeOf(state.packed)) } } };
        manifest = await within(clock, BACKUP_REPORT_MS, made);
        const problem = manifest === undefined ? storage.problem() : undefined;
        if (problem !== undefined) throw problem;
        if (manifest !== undefined)
          yield { step: { $case: "done", value: toDone(manifest, path, await prune(manifest)) } };
      }
    } catch (caught) {
      if ((caught as NodeJS.ErrnoException).code === "EEXIST") throw thereAlready(path);
      throw (caught as NodeJS.ErrnoException).code === "ENOSPC"
        ? new RpcError("STORAGE_FULL", { cause: caught })
        : caught;
    } finally {
      // Whether it has ended or its caller has gone: nothing of it is left before the next one may begin.
      end.abort(new RpcError("CANCELLED"));
      await made.catch(() => undefined);
    }
  }

  return defineServerStream<BackupRequest, BackupResponse>({
    schema: z.object({ requestId: requestIdField, name: nameField, takenAway: z.boolean() }),
    async *handle({ name, takenAway }, { signal, log }) {
      const path = join(paths.backupsDir, name);
      if (existsSync(path)) throw thereAlready(path);
      if (running) {
        throw reasonError("FAILED_PRECONDITION", undefined, {
          message: "A backup of this home is being made.",
          hint: "Wait until it has ended.",
        });
      }
      running = true;
      try {
        yield* backup(path, signal, async ({ homeId }) => {
          if (takenAway) return [];
          try {
            const { keep } = config.backups;
            const removed = await pruneBackups(paths.backupsDir, { keep, made: name, homeId });
            if (removed.length > 0) log.info({ removed, keep }, "older backups were removed");
            return removed;
          } catch (caught) {
            log.warn({ err: caught }, "older backups could not be removed");
            return [];
          }
        });
        log.info({ path }, "the home was saved");
      } finally {
        running = false;
      }
    },
  });
}

/** Removes what a gateway that was killed has left half made. */
function clearLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith(STAGE_PREFIX)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function thereAlready(path: string): RpcError {
  return new RpcError("ALREADY_EXISTS", {
    message: `${path} is there already.`,
    hint: "Name a file that is not there yet.",
  });
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function toDone(
  { madeAt, version, homeId, epoch, schema, format }: Manifest,
  path: string,
  removed: readonly string[],
): BackupDone {
  return {
    path,
    bytes: BigInt(sizeOf(path)),
    madeAt: toTimestamp(Date.parse(madeAt)),
    version,
    homeId,
    epoch: BigInt(epoch),
    schema,
    format,
    removed: [...removed],
  };
}
