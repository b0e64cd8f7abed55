import { DEFAULT_WORKER_BUDGETS } from "./workerBudgets.js";
import { startLifeline } from "./lifeline.js";

// The thread starts before everything else loads, so that its start and the loading overlap.
const lifeline = startLifeline(new URL("./lifelineThread.js", import.meta.url), DEFAULT_WORKER_BUDGETS.orphanGraceMs);

const { startWorker } = await import("./startWorker.js");
await startWorker(lifeline);
