import type { Clock } from "../base/clock.js";
import { systemClock } from "../base/clock.js";
import type { HomePaths } from "../base/home.js";
import type { Logger } from "../base/logger.js";
import { silentLogger } from "../base/logger.js";
import { bootId, readProcess } from "../base/processTable.js";
import type { Random } from "../base/random.js";
import { systemRandom } from "../base/random.js";
import type { Database } from "./database.js";
import { openDatabase, openReadOnly } from "./database.js";
import { takeHomeLock } from "./homeLock.js";
import { migrate, refuseTooNew } from "./migrate.js";
import { migrations } from "./migrations/index.js";
import { raiseEpoch } from "./raiseEpoch.js";
import { Reader } from "./reader.js";
import type { WriterOptions } from "./writer.js";
import { Writer } from "./writer.js";

/** An open home's store. */
export interface Store {
  /** The only way to change it. */
  readonly writer: Writer;
  /** Reads what is committed. */
  readonly reader: Reader;
  /** This start's number; higher than any earlier start's. */
  readonly epoch: number;
  /** Names the home for good. */
  readonly homeId: string;
  /** 32 secret bytes from which keys for outboxes are derived; never logged or sent. */
  readonly homeKey: Uint8Array;
  /** Commits what is queued, closes, then lets go of the home. Calling it again waits for the same end. */
  close(): Promise<void>;
}

/** What {@link openStore} can be told. */
export interface StoreOptions extends Partial<WriterOptions> {
  /** Makes the home's id and key; default the system's. */
  readonly random?: Random;
  /** See {@link DatabaseOptions.maxPageCount}. */
  readonly maxPageCount?: number;
}

/**
 * Takes the home's lock, brings its schema up to date and raises its epoch. The home's root must exist.
 * @throws (as rejection) HomeLockedError, HomeTooNewError, or StorageError; nothing is held then.
 */
export async function openStore(
  paths: Pick<HomePaths, "database" | "lockDatabase">,
  options: StoreOptions = {},
): Promise<Store> {
  const clock: Clock = options.clock ?? systemClock;
  const logger: Logger = options.logger ?? silentLogger();
  const random = options.random ?? systemRandom;
  const lock = takeHomeLock(paths.lockDatabase);
  let database: Database | undefined;
  try {
    refuseTooNew(paths.database, migrations);
    database = openDatabase(
      paths.database,
      options.maxPageCount === undefined ? {} : { maxPageCount: options.maxPageCount },
    );
    for (const step of migrate(database, migrations)) logger.info({ version: step.version }, `schema: ${step.name}`);
    const writer = new Writer(database, { ...options, clock, logger });
    const start = await writer.execute(raiseEpoch, {
      startedAtMs: clock.now(),
      pid: process.pid,
      birthTicks: readProcess(process.pid)?.birthTicks ?? 0n,
      bootId: bootId(),
      proposedHomeId: random.bytes(16).toString("hex"),
      proposedHomeKey: random.bytes(32),
    });
    const reader = new Reader(openReadOnly(paths.database));
    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      try {
        await writer.close(() => reader.close());
      } finally {
        lock.release();
      }
    };
    return { writer, reader, ...start, close: () => (closing ??= close()) };
  } catch (error) {
    if (database?.isOpen) database.close();
    lock.release();
    throw error;
  }
}
