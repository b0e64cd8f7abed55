import type { Clock } from "../../base/clock.js";
import { newId } from "../../base/ids.js";
import { LIMITS } from "../../base/limits.js";
import type { Logger } from "../../base/logger.js";
import type { ProcessTable } from "../../base/processTable.js";
import { readProcess } from "../../base/processTable.js";
import type { Random } from "../../base/random.js";
import type { SecretRegistry } from "../../base/secretRegistry.js";
import { within } from "../../base/within.js";
import { whenAwake } from "../../base/whenAwake.js";
import { reasonError, RpcError } from "../../rpc/rpcError.js";
import { endLaunch } from "../../store/turns/endLaunch.js";
import { recordLaunch } from "../../store/turns/recordLaunch.js";
import type { Writer } from "../../store/writer.js";
import { endEscaped } from "./endEscaped.js";
import type { StayingProcess } from "./findEscaped.js";
import { killLaunched } from "./killLaunched.js";
import type { Launch } from "./launch.js";
import { createLaunch } from "./launch.js";
import { LAUNCH_MARK, readLaunchMark, readMarks } from "./launchMark.js";
import type { LaunchTokens } from "./launchTokens.js";
import { ProcessGroup } from "./processGroup.js";
import type { SpawnedProcess, Spawner, SpawnRequest } from "./spawner.js";
import type { WorkerLog } from "./workerLog.js";

/** Exit code of a worker that found its launch pipe closed before the token. */
const EXIT_WITHOUT_TOKEN = 71;
/** A worker that was told why its turn is over has this long to leave by itself, milliseconds. */
const LAST_WORDS_MS = 200;

/** What a launcher works with. */
export interface LauncherParts {
  readonly spawner: Spawner;
  readonly table: ProcessTable;
  readonly clock: Clock;
  readonly random: Random;
  readonly writer: Writer;
  readonly epoch: number;
  readonly tokens: LaunchTokens;
  readonly secrets: SecretRegistry;
  readonly workerLog: WorkerLog;
  readonly log: Logger;
  /** The background processes of a session that are recorded. */
  readonly staying: (sessionId: string) => readonly StayingProcess[];
  /** From launch to `hello`, milliseconds. */
  readonly helloMs: number;
}

/** Starts worker processes and keeps the ledger of them. */
export class Launcher {
  readonly #parts: LauncherParts;
  readonly #live = new Set<Launch>();

  constructor(parts: LauncherParts) {
    this.#parts = parts;
  }

  /** The launches whose group is not proved gone. */
  get live(): readonly Launch[] {
    return [...this.#live];
  }

  /**
   * Starts a worker. Its token is written to the launch pipe once the launch record is committed, so that a later start
   * can sweep whatever has had a token.
   * @throws RpcError WORKER_SPAWN_FAILED where the program cannot be started; StorageError.
   */
  async launch(request: SpawnRequest): Promise<Launch> {
    const { clock, random, tokens, secrets, writer, epoch, table } = this.#parts;
    const id = newId("lau", random);
    const spawned = await this.#spawn({ ...request, env: { ...request.env, [LAUNCH_MARK]: id } });
    const facts = readProcess(spawned.pid, table);
    if (facts === undefined) throw reasonError("WORKER_SPAWN_FAILED", { program: request.command[0] });
    const identity = { pid: facts.pid, birthTicks: facts.birthTicks };
    const launch = createLaunch({
      id,
      process: identity,
      group: new ProcessGroup(identity, table, clock),
      launchedAt: clock.now(),
      exited: spawned.exited,
      closePipe: () => {
        spawned.stdin.destroy();
      },
    });
    this.#live.add(launch);
    const drained = this.#drain(spawned, launch);
    try {
      await writer.execute(recordLaunch, {
        launchId: launch.id,
        epoch,
        pid: identity.pid,
        birth: identity.birthTicks.toString(),
        bootId: table.bootId(),
        processGroup: identity.pid,
        now: launch.launchedAt,
      });
    } catch (error) {
      await this.end(launch);
      throw error;
    }
    const token = random.bytes(LIMITS.secretBytes);
    const text = token.toString("base64url");
    const forgetSecret = secrets.add(text);
    // What it has printed may be written down after its end.
    void Promise.all([launch.exited, drained]).then(forgetSecret);
    tokens.expect(token, launch);
    spawned.stdin.write(`${text}\n`);
    this.#watch(launch);
    return launch;
  }

  /**
   * Kills whatever is left of a launch, waits until it is proved gone and closes its record.
   * @param told whether the worker was told why its turn is over; it then has a moment to read that and to leave.
   * @param sessionId session whose turn it ran, whose background processes stay
   */
  async end(launch: Launch, told = false, sessionId?: string): Promise<void> {
    const { tokens, writer, clock, table, log } = this.#parts;
    tokens.forget(launch);
    launch.fail(new RpcError("WORKER_EXITED"));
    launch.closePipe();
    if (told && launch.exit === undefined) await within(clock, LAST_WORDS_MS, launch.exited);
    const marked = { launchId: launch.id, leader: launch.process };
    const gone = await killLaunched(launch.group, marked, table, readLaunchMark);
    await launch.exited;
    if (gone && this.#live.has(launch)) {
      const staying = sessionId === undefined ? [] : this.#parts.staying(sessionId);
      const others = new Set([...this.#live].filter((one) => one !== launch).map(({ group }) => group.id));
      const search = { launch: marked, table, marksOf: readMarks, others, staying };
      await endEscaped(search, launch.group.lastLook, { clock, log });
    }
    if (!this.#live.delete(launch)) return;
    if (!gone) {
      // The record stays open: the next start looks again.
      log.error({ launch: launch.id }, "a process group cannot be proved; left alone");
      return;
    }
    await writer.execute(endLaunch, { launchId: launch.id, now: clock.now() });
  }

  async #spawn(request: SpawnRequest): Promise<SpawnedProcess> {
    try {
      const spawned = await this.#parts.spawner(request);
      // A worker that ends early breaks the pipe; its exit says so better.
      spawned.stdin.on("error", () => undefined);
      return spawned;
    } catch (error) {
      throw reasonError("WORKER_SPAWN_FAILED", { program: request.command[0] }, { cause: error });
    }
  }

  #drain({ stdout, stderr }: SpawnedProcess, { id }: Launch): Promise<unknown> {
    const { workerLog } = this.#parts;
    return Promise.all([workerLog.drain(stdout, id), workerLog.drain(stderr, id)]);
  }

  #watch(launch: Launch): void {
    const { clock, helloMs, tokens, log } = this.#parts;
    const cancel = whenAwake(clock, helloMs, () => {
      launch.fail(new RpcError("WORKER_HELLO_TIMEOUT"));
    });
    launch.attached.then(cancel, cancel);
    void launch.exited.then((exit) => {
      launch.group.noteAtExit();
      tokens.forget(launch);
      log.debug({ launch: launch.id, ...exit }, "a launched process ended");
      launch.fail(new RpcError(exit.code === EXIT_WITHOUT_TOKEN ? "WORKER_LAUNCHER_DROPPED_STDIN" : "WORKER_EXITED"));
    });
  }
}
