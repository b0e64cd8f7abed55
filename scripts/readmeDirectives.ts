import { readFileSync, writeFileSync } from "node:fs";

import { directiveTable, replaceDirectiveTable } from "../src/worker/runtimes/echo/directiveTable.js";

// Writes the echo runtime's directives into the README. A test fails when the table is stale.
const path = "README.md";
writeFileSync(path, replaceDirectiveTable(readFileSync(path, "utf8"), directiveTable()));
