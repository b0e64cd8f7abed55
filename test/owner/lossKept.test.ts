import { expect, test } from "vitest";

import { StorageError } from "../../src/base/storageError.js";
import type { Command } from "../../src/store/command.js";
import { loseExecution } from "../../src/store/turns/loseExecution.js";
import { releaseSession } from "../../src/store/turns/releaseSession.js";
import type { Writer } from "../../src/store/writer.js";
import { beginRunningTurn } from "../kit/heldTurn.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitUntil } from "../kit/waitFor.js";

const workers = useForeignWorkers();
const gateway = useTestGateway({ agents: { foreign: { runtime: "command", worker: { command: workers.command } } } });

test("a lost turn holds its session until its outcome is stored, however often there is no room for that", async () => {
  const { writer } = gateway().context.store;
  const execute = writer.execute.bind<Writer["execute"]>(writer);
  const kept: string[] = [];
  let failures = 0;
  const { run, worker } = await beginRunningTurn(gateway(), workers);
  writer.execute = async function <Input, Result>(command: Command<Input, Result>, input: Input): Promise<Result> {
    if (command.name === loseExecution.name && failures < 2) {
      failures += 1;
      throw new StorageError("full", "no room");
    }
    const result = await execute(command, input);
    if (command.name === loseExecution.name || command.name === releaseSession.name) kept.push(command.name);
    return result;
  };
  worker.exit(3);
  expect(await run.outcome()).toMatchObject({ outcome: "FAILED" });
  await waitUntil("the session is released", () => kept.length === 2);
  expect(kept).toEqual([loseExecution.name, releaseSession.name]);
  expect(failures).toBe(2);
});
