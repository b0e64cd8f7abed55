import { spawn, type ChildProcess } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { BACKGROUND_MARK } from "../../base/backgroundMark.js";
import type { Clock } from "../../base/clock.js";
import { cutToCodePoints, toWellFormed } from "../../base/codePoints.js";
import type { ProcessIdentity } from "../../base/processIdentity.js";
import { bootId, groupMembers, isAlive, readProcess } from "../../base/processTable.js";
import type { Random } from "../../base/random.js";
import { signalGroup } from "../../base/signalProcess.js";
import { BackgroundState, type RecordBackgroundProcess } from "../../gen/talaria/owner/v1/execution_store_service.js";
import type { TurnStore } from "../turnContext.js";
import { BACKGROUND_FILES, BACKGROUND_SCRIPT } from "./backgroundScript.js";
import { commandEnvironment } from "./commandSite.js";
import { killTree } from "../processes/killTree.js";
import { holdFolder, openForReading, type HeldFolder } from "./workspaceFiles.js";
import { TOOL_FOLDER } from "./workspacePath.js";

/** What {@link BackgroundProcesses} needs. */
export interface BackgroundParts {
  readonly workspace: string;
  readonly store: Pick<TurnStore, "persist">;
  readonly clock: Clock;
  readonly random: Random;
  /** Removes secrets from a command that is stored. */
  readonly redact: (text: string) => string;
  /** Processes of earlier turns of the session that are not known to have ended. */
  readonly earlier: readonly RecordBackgroundProcess[];
}

/** Where a background process stands. */
export interface BackgroundLook {
  readonly command: string;
  readonly state: "running" | "exited" | "lost";
  /** Exit code of one that has exited. */
  readonly code: number | undefined;
  /** The last of what it printed. */
  readonly output: string;
}

/** Longest command that is stored, code points. */
const COMMAND_CODE_POINTS = 4_096;
/** What is shown of the output, bytes. */
const SHOWN_BYTES = 32_768;

/** The session's background processes: those of this turn, and those that earlier turns have left. */
export class BackgroundProcesses {
  readonly #parts: BackgroundParts;
  readonly #records = new Map<string, RecordBackgroundProcess>();

  constructor(parts: BackgroundParts) {
    this.#parts = parts;
    for (const record of parts.earlier) this.#records.set(record.processId, record);
  }

  /** Ids of those that are not known to have ended. */
  get ids(): readonly string[] {
    return [...this.#records.keys()];
  }

  /**
   * Starts one in a session of its own, so that it outlives the worker, and records it.
   * @returns its id. @throws Error where it cannot be started; RpcError where it cannot be recorded, and then it is ended again.
   */
  async start(command: string, argv: readonly string[]): Promise<string> {
    const { workspace, random, clock, redact } = this.#parts;
    const id = `bg_${random.bytes(5).toString("hex")}`;
    const folder = await makeFolder(workspace, id);
    let child: ChildProcess;
    try {
      await writeFile(join(folder.path, BACKGROUND_FILES.boot), bootId(), { flag: "wx" });
      child = await spawned(argv, workspace, folder, id);
    } finally {
      await folder.handle.close();
    }
    child.unref();
    const facts = readProcess(child.pid ?? 0);
    if (facts === undefined) throw new Error("The command ended before it could be recorded.");
    const record: RecordBackgroundProcess = {
      processId: id,
      process: { pid: facts.pid, birth: facts.birthTicks, processGroup: facts.pid },
      command: cutToCodePoints(redact(toWellFormed(command)), COMMAND_CODE_POINTS, "…"),
      state: BackgroundState.BACKGROUND_STATE_RUNNING,
      exitCode: undefined,
    };
    try {
      await this.#record(record);
    } catch (error) {
      await killTree(facts, clock);
      throw error;
    }
    this.#records.set(id, record);
    return id;
  }

  /** Looks at one, and records that it has ended once it has. Undefined for an id that is none. @throws RpcError. */
  async look(id: string): Promise<BackgroundLook | undefined> {
    const record = this.#records.get(id);
    if (record === undefined) return undefined;
    const { identity, alive } = await this.#facts(record);
    const exit = await this.#text(id, BACKGROUND_FILES.exit, 16);
    const code = /^\d+$/.test(exit.trim()) ? Number(exit) : undefined;
    const state = code !== undefined ? "exited" : alive && identity !== undefined ? "running" : "lost";
    if (state !== "running") await this.#ended(record, code);
    const output = await this.#output(id);
    return { command: record.command, state, code, output };
  }

  /**
   * Ends one with everything in its group and everything that descends from it. @returns false where nothing could be proved to be
   * it, or where it is not gone afterwards. @throws RpcError.
   */
  async kill(id: string): Promise<boolean> {
    const record = this.#records.get(id);
    if (record === undefined) return false;
    const { identity, alive } = await this.#facts(record);
    if (identity === undefined || !alive) {
      await this.#ended(record, undefined);
      return true;
    }
    const pgid = record.process?.processGroup ?? identity.pid;
    // Noted while the leader proves the group: what has left its parents is found by nothing else afterwards.
    const group = { pgid, leader: identity, members: groupMembers(pgid) };
    if (signalGroup(group, "SIGTERM").kind === "refused") return false;
    const gone = await killTree(identity, this.#parts.clock);
    if (signalGroup(group, "SIGKILL").kind === "refused" || !gone) return false;
    await this.#ended(record, undefined);
    return true;
  }

  async #facts(record: RecordBackgroundProcess): Promise<{
    readonly identity: ProcessIdentity | undefined;
    readonly alive: boolean;
  }> {
    const { process: ref } = record;
    // A number and a birth may come again after a boot.
    const sameBoot = (await this.#text(record.processId, BACKGROUND_FILES.boot, 64)) === bootId();
    if (ref === undefined || !sameBoot) return { identity: undefined, alive: false };
    const facts = readProcess(ref.pid);
    const alive = isAlive(facts) && facts.birthTicks === ref.birth;
    return { identity: { pid: ref.pid, birthTicks: ref.birth }, alive };
  }

  async #ended(record: RecordBackgroundProcess, code: number | undefined): Promise<void> {
    await this.#record({ ...record, state: BackgroundState.BACKGROUND_STATE_EXITED, exitCode: code });
  }

  async #record(record: RecordBackgroundProcess): Promise<void> {
    await this.#parts.store.persist({ $case: "recordBackgroundProcess", value: record });
  }

  async #output(id: string): Promise<string> {
    const current = await this.#text(id, BACKGROUND_FILES.current, SHOWN_BYTES);
    const room = SHOWN_BYTES - Buffer.byteLength(current);
    const previous = room > 0 ? await this.#text(id, BACKGROUND_FILES.previous, room) : "";
    return previous + current;
  }

  /** The end of a process's file as text; empty where there is none. What a link or a pipe in its place leads to is not read. */
  async #text(id: string, file: string, bytes: number): Promise<string> {
    const opened = await openForReading(this.#parts.workspace, [...partsOf(id), file]).catch(() => undefined);
    if (opened === undefined) return "";
    const { handle, size } = opened;
    try {
      const end = Buffer.alloc(Math.min(size, bytes));
      const { bytesRead } = await handle.read(end, 0, end.length, size - end.length);
      return end.toString("utf8", 0, bytesRead);
    } finally {
      await handle.close();
    }
  }
}

function partsOf(id: string): readonly string[] {
  return [TOOL_FOLDER, "processes", id];
}

/** Makes a process's folder; none of the folders above it may be a link, which would lead out of the workspace. */
async function makeFolder(workspace: string, id: string): Promise<HeldFolder> {
  return holdFolder(workspace, partsOf(id), 0o700).catch((cause: unknown) => {
    throw new Error(`${TOOL_FOLDER} in the workspace is not a folder that can be used.`, { cause });
  });
}

/** Starts a program's script inside its folder, wherever that has been moved to meanwhile. */
async function spawned(
  argv: readonly string[],
  workspace: string,
  folder: HeldFolder,
  id: string,
): Promise<ChildProcess> {
  const child = spawn("/bin/sh", ["-c", BACKGROUND_SCRIPT, "sh", workspace, ...argv], {
    cwd: folder.path,
    env: { ...commandEnvironment(process.env), [BACKGROUND_MARK]: id },
    stdio: "ignore",
    detached: true,
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  return child;
}
