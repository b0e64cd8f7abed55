import { defineCommand } from "../command.js";
import type { Tx } from "../sql.js";

/** Pages of one call, so that it does not hold the writer. */
export const FREE_PAGES = 256;
/** Free pages that are kept for what is written next. */
export const SPARE_PAGES = 1_024;

/**
 * Gives pages that nothing is in back to the file system, down to {@link SPARE_PAGES} or a tenth of the file, whichever is more. A
 * database that was made by a release before this could be done keeps its pages, for what is written next.
 * @returns whether there is more to give back
 */
export const freePages = defineCommand({
  name: "home.free_pages",
  run(tx: Tx): boolean {
    const pragma = (name: "auto_vacuum" | "freelist_count" | "page_count"): number =>
      Object.values(tx.get<Record<string, number>>(`PRAGMA ${name}`) ?? {})[0] ?? 0;
    if (pragma("auto_vacuum") !== INCREMENTAL) return false;
    const spare = (): number => pragma("freelist_count") - Math.max(SPARE_PAGES, pragma("page_count") / 10);
    if (spare() < FREE_PAGES) return false;
    tx.all(`PRAGMA incremental_vacuum(${String(FREE_PAGES)})`);
    return spare() >= FREE_PAGES;
  },
});

/** What `PRAGMA auto_vacuum` says of a database that gives pages back when it is told to. */
const INCREMENTAL = 2;
