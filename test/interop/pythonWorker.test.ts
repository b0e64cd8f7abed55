import { fileURLToPath } from "node:url";
import { afterAll, describe } from "vitest";

import { commandWorkerTests } from "../kit/commandWorkerTests.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { outsideTool } from "./outsideTool.js";
import { makePythonStubs } from "./pythonStubs.js";

const worker = fileURLToPath(new URL("../../examples/python-worker/worker.py", import.meta.url));
const python = outsideTool("python");

describe("a worker in Python", async () => {
  if (!python.runs) {
    const gone = (): never => {
      throw new Error("Python is not there");
    };
    commandWorkerTests(python.test, gone, { stores: false });
    return;
  }
  const stubs = await makePythonStubs(python.path);
  afterAll(() => {
    stubs.remove();
  });
  const env = { PYTHONPATH: stubs.directory, PYTHONDONTWRITEBYTECODE: "1" };
  const example = { runtime: "command", worker: { command: [python.path, worker], env } };
  commandWorkerTests(python.test, useTestGateway({ agents: { example } }), { stores: false });
});
