import type { Clock } from "../base/clock.js";
import { createDeferred } from "../base/deferred.js";
import type { Logger } from "../base/logger.js";
import { StorageError } from "../base/storageError.js";
import type { Command } from "./command.js";
import type { Database } from "./database.js";
import { Statements } from "./statements.js";
import { toStorageError } from "./toStorageError.js";

/** What the writer says about a commit. */
export interface CommitReport {
  /** Commands of the batch, failed ones included. */
  readonly commands: number;
  /** Commands whose changes were not kept. */
  readonly failed: number;
  /** From the start of the transaction to its end, in milliseconds. */
  readonly durationMs: number;
}

/** What a {@link Writer} needs. */
export interface WriterOptions {
  /** Measures commits. */
  readonly clock: Clock;
  /** Told of listeners that throw. */
  readonly logger: Logger;
  /** Most commands in one transaction, so that one batch does not hold the event loop; default 256. */
  readonly batchCap?: number;
  /** Most commands waiting; one more is refused; default 10,000. */
  readonly queueCap?: number;
  /**
   * Judges what a command has done before it is kept, by the command's name and result; what it throws undoes the command and
   * reaches its caller. Default: nothing is judged.
   */
  readonly vet?: (command: string, result: unknown) => void;
  /** Copies inputs and results as a thread would; for tests that prove that they are plain data. Default false. */
  readonly copyData?: boolean;
}

interface Job {
  readonly run: (tx: Statements) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome =
  { readonly kind: "kept"; readonly value: unknown } | { readonly kind: "failed"; readonly error: unknown };

/**
 * The only way to change the store. Commits whatever is queued in one transaction, answers after the commit, then looks
 * again. There is no timer: the first command of an idle writer waits for the end of the present turn of the event loop, which is
 * what lets commands that arrive together share a sync.
 */
export class Writer {
  readonly #database: Database;
  readonly #statements: Statements;
  readonly #options: Required<WriterOptions>;
  readonly #listeners = new Set<(report: CommitReport) => void>();
  readonly #closed = createDeferred<undefined>();
  readonly #last: (() => void)[] = [];
  #queue: Job[] = [];
  #state: "idle" | "scheduled" | "closing" | "closed" = "idle";

  /** @param database a connection that this writer owns and closes. */
  constructor(database: Database, options: WriterOptions) {
    this.#database = database;
    this.#statements = new Statements(database);
    this.#options = { batchCap: 256, queueCap: 10_000, copyData: false, vet: () => undefined, ...options };
  }

  /** Commands that wait for their batch. */
  get queued(): number {
    return this.#queue.length;
  }

  /**
   * Queues a command; resolves with its result once that is on disk. Commands take effect, and are answered, in the order
   * of the calls.
   * @throws (as rejection) what the command threw; StorageError `full` or `unavailable` where the batch could not be kept or
   *   the queue is too long, `closed` after {@link close}.
   */
  execute<Input, Result>(command: Command<Input, Result>, input: Input): Promise<Result> {
    if (this.#state === "closing" || this.#state === "closed") {
      return Promise.reject(new StorageError("closed", "the store is closed"));
    }
    if (this.#queue.length >= this.#options.queueCap) {
      return Promise.reject(new StorageError("unavailable", "too many commands wait for the store"));
    }
    const { copyData: copy, vet } = this.#options;
    return new Promise<Result>((resolve, reject) => {
      const given = copy ? structuredClone(input) : input;
      this.#queue.push({
        run: (tx) => {
          const result = command.run(tx, given);
          vet(command.name, result);
          return copy ? structuredClone(result) : result;
        },
        resolve: resolve as (value: unknown) => void,
        reject,
      });
      this.#schedule();
    });
  }

  /** Calls `listener` after each commit, before its commands are answered. @returns a function that stops that. */
  onCommit(listener: (report: CommitReport) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Moves the log into the database and empties it, so that overwritten content is in neither.
   * @returns false where a reader kept that from being done in full.
   * @throws StorageError as {@link execute} does.
   */
  truncateLog(): boolean {
    if (this.#state === "closed") throw new StorageError("closed", "the store is closed");
    try {
      return this.#statements.get<{ busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)")?.busy === 0;
    } catch (error) {
      throw toStorageError(error) ?? error;
    }
  }

  /**
   * Commits what is queued, refuses what comes later, and closes the connection. Calling it again waits for the same end.
   * @param last runs after the last command was answered and before the connection is closed.
   */
  async close(last?: () => void): Promise<void> {
    if (last) this.#last.push(last);
    if (this.#state === "idle") setImmediate(this.#end);
    if (this.#state !== "closed") this.#state = "closing";
    await this.#closed.promise;
  }

  #schedule(): void {
    if (this.#state !== "idle") return;
    this.#state = "scheduled";
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    const batch = this.#queue.splice(0, this.#options.batchCap);
    if (batch.length > 0) this.#commit(batch);
    if (this.#queue.length > 0) setImmediate(this.#turn);
    else if (this.#state === "closing") setImmediate(this.#end);
    else this.#state = "idle";
  };

  readonly #end = (): void => {
    this.#state = "closed";
    try {
      for (const last of this.#last) last();
      this.#database.close();
      this.#closed.resolve(undefined);
    } catch (error) {
      this.#closed.reject(toStorageError(error) ?? error);
    }
  };

  #commit(batch: readonly Job[]): void {
    const startedMs = this.#options.clock.monotonic();
    const outcomes = this.#runBatch(batch) ?? batch.map((job) => this.#runBatch([job])?.[0] ?? LOST);
    const failed = outcomes.filter(({ kind }) => kind === "failed").length;
    this.#report({ commands: batch.length, failed, durationMs: this.#options.clock.monotonic() - startedMs });
    batch.forEach((job, index) => {
      const outcome = outcomes[index] ?? LOST;
      if (outcome.kind === "kept") job.resolve(outcome.value);
      else job.reject(outcome.error);
    });
  }

  /**
   * Runs the jobs in one transaction.
   * @returns undefined where a job made SQLite abandon the whole transaction, as a full disk does: the others may
   *   still succeed, each in a transaction of its own.
   */
  #runBatch(batch: readonly Job[]): readonly Outcome[] | undefined {
    const outcomes: Outcome[] = [];
    try {
      this.#statements.run("BEGIN IMMEDIATE");
      for (const job of batch) {
        const outcome = this.#runJob(job);
        if (this.#database.isTransaction) outcomes.push(outcome);
        else return batch.length === 1 ? [outcome] : undefined;
      }
      this.#statements.run("COMMIT");
      return outcomes;
    } catch (error) {
      this.#abandon();
      const failure: Outcome = { kind: "failed", error: toStorageError(error) ?? error };
      return batch.map((_, index) => (outcomes[index]?.kind === "failed" ? outcomes[index] : failure));
    }
  }

  #runJob(job: Job): Outcome {
    this.#statements.run("SAVEPOINT command");
    try {
      const value = job.run(this.#statements);
      this.#statements.run("RELEASE command");
      return { kind: "kept", value };
    } catch (error) {
      if (this.#database.isTransaction) {
        this.#statements.run("ROLLBACK TO command");
        this.#statements.run("RELEASE command");
      }
      return { kind: "failed", error: toStorageError(error) ?? error };
    }
  }

  #abandon(): void {
    if (!this.#database.isTransaction) return;
    try {
      this.#statements.run("ROLLBACK");
    } catch (error) {
      this.#options.logger.error({ err: error }, "a failed transaction could not be rolled back");
    }
  }

  #report(report: CommitReport): void {
    for (const listener of this.#listeners) {
      try {
        listener(report);
      } catch (error) {
        this.#options.logger.error({ err: error }, "a commit listener failed");
      }
    }
  }
}

/** Stands for an outcome that the loop above cannot leave out. */
const LOST: Outcome = { kind: "failed", error: new StorageError("unavailable", "the command has no outcome") };
