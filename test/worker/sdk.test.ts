import { fileURLToPath } from "node:url";
import { describe, test } from "vitest";

import { commandWorkerTests } from "../kit/commandWorkerTests.js";
import { useTestGateway } from "../kit/useTestGateway.js";

const example = fileURLToPath(new URL("../../examples/ts-worker/worker.ts", import.meta.url));
const command = [process.execPath, "--import", import.meta.resolve("tsx"), example];
const gateway = useTestGateway({ agents: { example: { runtime: "command", worker: { command } } } });

describe("a worker made with talaria/worker", () => {
  commandWorkerTests(test, gateway);
});
