import { afterAll } from "vitest";

import { type ForeignWorkers, startForeignWorkers } from "./foreignWorkers.js";

/** Foreign workers for a test file, ended after its last test; to be set up before the file's gateway. */
export function useForeignWorkers(): ForeignWorkers {
  const workers = startForeignWorkers();
  afterAll(() => workers.close());
  return workers;
}
