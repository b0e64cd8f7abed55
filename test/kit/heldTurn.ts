import type { ForeignWorker, ForeignWorkers } from "./foreignWorkers.js";
import type { TestGateway } from "./testGateway.js";
import type { UpdateLog } from "./turnClient.js";

/** A turn whose worker is in the test's hands. */
export interface HeldTurn {
  readonly run: UpdateLog;
  readonly worker: ForeignWorker;
}

/** Begins a turn of an agent that a foreign worker serves; the worker was started and has done nothing yet. */
export async function beginTurn(gateway: TestGateway, workers: ForeignWorkers, agent = "foreign"): Promise<HeldTurn> {
  const run = gateway.client.run(agent, "hello");
  return { run, worker: await workers.next() };
}

/** As {@link beginTurn}, with a worker that has come to `running`. */
export async function beginRunningTurn(
  gateway: TestGateway,
  workers: ForeignWorkers,
  agent = "foreign",
): Promise<HeldTurn> {
  const turn = await beginTurn(gateway, workers, agent);
  await turn.worker.running();
  return turn;
}
