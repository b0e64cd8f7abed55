import { expect, test, vi } from "vitest";

import { createDeferred } from "../../src/base/deferred.js";
import { beginTurn } from "../kit/heldTurn.js";
import { rowsOf } from "../kit/serveProcess.js";
import { refusalOf, sessionOf } from "../kit/turnClient.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useServe } from "../kit/useServe.js";
import { useTestGateway } from "../kit/useTestGateway.js";

const workers = useForeignWorkers();
const foreign = { runtime: "command", worker: { command: workers.command } };
const gateway = useTestGateway({ agents: { foreign } });
const fixture = useServe();

test("a Stop of a turn that nothing has started of is answered when it is on disk, and not before", async () => {
  const { client, context } = gateway();
  const { run, worker } = await beginTurn(gateway(), workers);
  const executionId = await run.started();
  await worker.bootstrapped();
  const { writer } = context.store;
  const execute = writer.execute.bind(writer);
  const asked = createDeferred<void>();
  const open = createDeferred<void>();
  const held = vi.spyOn(writer, "execute").mockImplementation(async (command, input) => {
    if (command.name === "execution.lose") {
      asked.resolve();
      await open.promise;
    }
    return execute(command, input);
  });
  try {
    const answers: string[] = [];
    const note = (what: string) => (): void => void answers.push(what);
    const stop = client.stop(executionId).then(note("stopped"));
    await asked.promise;
    const again = refusalOf(client.stop(executionId)).then(note("ended"));
    // Calls of one connection are answered as they end: what was answered before this one has come.
    await client.prompts(await sessionOf(run));
    expect(answers).toEqual([]);
    open.resolve();
    await Promise.all([stop, again]);
    expect(context.store.reader.all("SELECT outcome FROM executions WHERE execution_id = ?", executionId)).toEqual([
      { outcome: "interrupted" },
    ]);
  } finally {
    open.resolve();
    held.mockRestore();
  }
  expect(await run.outcome()).toMatchObject({ outcome: "INTERRUPTED", reason: "TURN_STOPPED" });
});

test("a turn that was stopped before its worker adopted it stays stopped, though the gateway is killed right after the answer", async () => {
  const home = fixture.home({ helloMs: 60_000, heartbeatMissedMs: 60_000 }, { agents: { foreign } });
  const first = await fixture.serve(home);
  const client = first.connect();
  const run = client.run("foreign", "must not run");
  const worker = await workers.next();
  const executionId = await run.started();
  await worker.bootstrapped();
  await client.stop(executionId);
  await first.kill();

  const second = (await fixture.serve(home)).connect();
  const { inputId = "", sessionId = "" } = (await run.next("inputQueued")).turn ?? {};
  expect(await second.turn(inputId)).toMatchObject({ outcome: "INTERRUPTED", reason: "TURN_STOPPED" });
  const next = second.say(sessionId, "next");
  const other = await workers.next();
  expect((await other.running()).input?.text).toBe("next");
  other.result({ finalResponse: "ran" });
  expect((await next.outcome()).answer).toBe("ran");
  await other.leave();
  expect(rowsOf(home, "SELECT text FROM messages WHERE role = 'user' ORDER BY row")).toEqual([
    { text: "must not run" },
    { text: "next" },
  ]);
});
