import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { HomePaths } from "../../base/home.js";
import { homePaths } from "../../base/home.js";

/** A fresh home directory for one test, and its removal. */
export function tempHome(): { readonly paths: HomePaths; readonly remove: () => void } {
  const root = mkdtempSync(join(tmpdir(), "tal-"));
  return {
    paths: homePaths(root),
    remove: () => {
      rmSync(root, { recursive: true, force: true });
    },
  };
}
