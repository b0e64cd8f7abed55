// A worker that cannot be built. Usage: node --import tsx unbuildableWorker.ts REASON
import { fileURLToPath } from "node:url";

import type { Reason } from "../../src/rpc/reasons.js";
import { RpcError } from "../../src/rpc/rpcError.js";
import { runWorkerProcess } from "../../src/worker/workerProcess.js";

const reason = process.argv[2] as Reason;
await runWorkerProcess({
  program: {
    build: { name: "unbuildable", version: "1", runtime: "node" },
    runtimes: () => () => Promise.reject(new RpcError(reason, { message: `It cannot be built: ${reason}.` })),
  },
  lifelineScript: fileURLToPath(new URL("../../dist/worker/lifelineThread.cjs", import.meta.url)),
  keepCode: () => undefined,
});
