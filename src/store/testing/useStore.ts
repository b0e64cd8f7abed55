import { afterEach, beforeEach } from "vitest";

import { openStore, type Store } from "../store.js";
import { tempHome } from "./tempHome.js";

/**
 * A store in a home of its own for each test of a file, closed and removed after it.
 * @param opened told of the store before each test, and of the next start's
 * @returns what starts anew on the same home
 */
export function useStore(opened: (store: Store, home: ReturnType<typeof tempHome>) => void): {
  readonly restart: () => Promise<void>;
} {
  let home: ReturnType<typeof tempHome>;
  let store: Store;
  const open = async (): Promise<void> => {
    store = await openStore(home.paths);
    opened(store, home);
  };
  beforeEach(async () => {
    home = tempHome();
    await open();
  });
  afterEach(async () => {
    await store.close();
    home.remove();
  });
  return {
    async restart() {
      await store.close();
      await open();
    },
  };
}
