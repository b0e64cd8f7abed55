import { StorageError } from "../base/storageError.js";
import type { Database } from "./database.js";
import type { Queryable, SqlValue } from "./sql.js";
import { Statements } from "./statements.js";
import { toStorageError } from "./toStorageError.js";

/** Reads what is committed, on a connection of its own that cannot write. */
export class Reader implements Queryable {
  readonly #database: Database;
  readonly #statements: Statements;
  #depth = 0;

  /** @param database a read-only connection that this reader owns and closes. */
  constructor(database: Database) {
    this.#database = database;
    this.#statements = new Statements(database);
  }

  /** See {@link Queryable.get}. @throws StorageError where the store cannot be used. */
  get<Row extends object>(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    return this.#guarded(() => this.#statements.get<Row>(sql, ...values));
  }

  /** See {@link Queryable.all}. @throws StorageError where the store cannot be used. */
  all<Row extends object>(sql: string, ...values: readonly SqlValue[]): Row[] {
    return this.#guarded(() => this.#statements.all<Row>(sql, ...values));
  }

  /** Runs several queries on one state of the store. `read` is synchronous; a snapshot may hold another. */
  snapshot<T>(read: (at: Queryable) => T): T {
    if (this.#depth > 0) return read(this);
    return this.#guarded(() => {
      this.#depth++;
      this.#statements.run("BEGIN");
      try {
        return read(this);
      } finally {
        this.#depth--;
        if (this.#database.isTransaction) this.#statements.run("COMMIT");
      }
    });
  }

  /** Closes the connection; later reads throw StorageError `closed`. */
  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #guarded<T>(run: () => T): T {
    if (!this.#database.isOpen) throw new StorageError("closed", "the store is closed");
    try {
      return run();
    } catch (error) {
      throw toStorageError(error) ?? error;
    }
  }
}
