import type { Database } from "./database.js";
import type { Changes, SqlValue, Tx } from "./sql.js";

type Statement = ReturnType<Database["prepare"]>;

/** Statements kept ready. SQL texts are fixed, so a home uses fewer; the bound guards against one that is built. */
const KEPT_STATEMENTS = 512;

/** Runs SQL on one connection and keeps its prepared statements, the least recently used dropped first. */
export class Statements implements Tx {
  readonly #database: Database;
  readonly #kept = new Map<string, Statement>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** See {@link Tx.get}. */
  get<Row extends object>(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    return this.#prepared(sql).get(...bindable(values)) as Row | undefined;
  }

  /** See {@link Tx.all}. */
  all<Row extends object>(sql: string, ...values: readonly SqlValue[]): Row[] {
    return this.#prepared(sql).all(...bindable(values)) as Row[];
  }

  /** See {@link Tx.run}. */
  run(sql: string, ...values: readonly SqlValue[]): Changes {
    const { changes, lastInsertRowid } = this.#prepared(sql).run(...bindable(values));
    return { changes, lastInsertRowid: Number(lastInsertRowid) };
  }

  #prepared(sql: string): Statement {
    const kept = this.#kept.get(sql);
    if (kept) {
      this.#kept.delete(sql);
      this.#kept.set(sql, kept);
      return kept;
    }
    const statement = this.#database.prepare(sql);
    this.#kept.set(sql, statement);
    const oldest = this.#kept.size > KEPT_STATEMENTS ? this.#kept.keys().next().value : undefined;
    if (oldest !== undefined) this.#kept.delete(oldest);
    return statement;
  }
}

/**
 * Values as the driver keeps them whole. It stores integers beyond 2^53 and refuses every row that holds one from then on, so that one
 * figure from elsewhere would hide its whole table: such a command fails by itself.
 *
 * The driver takes text for a C string and would end it at U+0000 without a word. Callers refuse that character where they can; what
 * comes from a worker, whose turn must not be lost to it, is kept with U+FFFD in its place.
 * @throws RangeError for a number that no number can be read back from.
 */
function bindable(values: readonly SqlValue[]): readonly SqlValue[] {
  const unreadable = values.find(isUnreadable);
  if (unreadable !== undefined) throw new RangeError(`${String(unreadable)} could not be read back as a number`);
  return values.some(holdsNul)
    ? values.map((value) => (holdsNul(value) ? value.replaceAll("\0", "\uFFFD") : value))
    : values;
}

function holdsNul(value: SqlValue): value is string {
  return typeof value === "string" && value.includes("\0");
}

function isUnreadable(value: SqlValue): value is number | bigint {
  return (
    (typeof value === "number" || typeof value === "bigint") &&
    (value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER)
  );
}
