import { join } from "node:path";
import { loadScript } from "../base/loadScript.js";
import type * as Program from "./startWorker.js";

// Usage: node main.cjs [DIRECTORY], where DIRECTORY keeps the compiled code for later starts.

/** Name of the built program, which the build puts in; it names the content. */
declare const SCRIPT: string;

const program = loadScript<typeof Program>(join(__dirname, SCRIPT), process.argv[2]);
void program.exports.startWorker({
  lifelineScript: join(__dirname, "lifelineThread.cjs"),
  keepCode: () => {
    program.keepCache();
  },
});
