import type { Client } from "@grpc/grpc-js";
import { afterEach, expect, test } from "vitest";

import {
  ExecutionStoreServiceService as Store,
  type StoreOperation,
} from "../../src/gen/talaria/owner/v1/execution_store_service.js";
import { ConversationMessage, MessageRole } from "../../src/gen/talaria/types/v1/conversation.js";
import { createClient } from "../../src/rpc/clients/connectClient.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import type { ForeignWorker } from "../kit/foreignWorkers.js";
import { beginRunningTurn, beginTurn } from "../kit/heldTurn.js";
import { refusalOf, sessionOf, type UpdateLog } from "../kit/turnClient.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitUntil } from "../kit/waitFor.js";
import { StoreWire } from "./storeWire.js";

const workers = useForeignWorkers();
const gateway = useTestGateway({
  agents: { foreign: { runtime: "command", worker: { command: workers.command } } },
});
const opened: { close(): void }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

/** A turn that runs, adopted over its Attach connection. */
const beginRunning = () => beginRunningTurn(gateway(), workers);

async function wireOf(worker: ForeignWorker): Promise<StoreWire> {
  const wire = await StoreWire.open(worker);
  opened.push(wire);
  return wire;
}

/** This process in the place of another one that has come to know a secret. */
function stranger(): Client {
  const address = `unix:${gateway().context.paths.ownerSocket}`;
  const client = createClient({ address, purpose: "unixStream", ownConnection: true });
  opened.push(client);
  return client;
}

interface AdoptChanges {
  readonly fence?: ForeignWorker["fence"];
  readonly assignmentSecret?: Buffer;
  readonly pid?: number;
}

function adoptOver(client: Client, worker: ForeignWorker, changes: AdoptChanges = {}) {
  const { assignmentSecret } = worker.bootstrap;
  const { pid } = worker.launched;
  return unaryCall(client, Store.adopt, { fence: worker.fence, assignmentSecret, pid, ...changes });
}

const row = (text: string): StoreOperation["operation"] & object => ({
  $case: "appendMessages",
  value: { messages: [ConversationMessage.fromPartial({ role: MessageRole.MESSAGE_ROLE_ASSISTANT, text })] },
});

async function rowsOf(run: UpdateLog): Promise<readonly string[]> {
  const sql = "SELECT text FROM messages WHERE session_id = ? ORDER BY row";
  return gateway()
    .rows<{ text: string }>(sql, await sessionOf(run))
    .map(({ text }) => text);
}

const committed = (worker: ForeignWorker): number =>
  gateway().rows("SELECT 1 FROM store_operations WHERE execution_id = ?", worker.fence.executionId).length;

test("OW09 OW25 a worker adopts again over a second connection in the middle of its turn and goes on with the next number", async () => {
  const { run, worker } = await beginRunning();
  await worker.persist(1n, row("one"));
  const second = (await wireOf(worker)).client;
  expect(await adoptOver(second, worker)).toMatchObject({ fence: worker.fence, lastSequence: 1n });
  await worker.persist(2n, row("two"), worker.fence, second);
  const rows: string[] = [];
  const reading = readStream(second, Store.readConversation, {
    fence: worker.fence,
    afterRow: 0n,
    includeCompacted: false,
  });
  for await (const { messages } of reading) rows.push(...messages.map(({ text }) => text));
  expect(rows).toEqual(["hello", "one", "two"]);
  worker.result({ finalResponse: "done" });
  await worker.next("finish");
  const finished = await unaryCall(second, Store.finishExecution, { fence: worker.fence, lastSequence: 2n });
  expect(finished.outcome).toBe(1);
  worker.send({ $case: "finished", value: {} });
  worker.end();
  worker.exit(0);
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "done" });
});

test("OW22 F31 a write whose answer was lost with its connection is answered from the record over the next one", async () => {
  const { run, worker } = await beginRunning();
  const broken = await wireOf(worker);
  await adoptOver(broken.client, worker);
  const first = await worker.persist(1n, row("one"), worker.fence, broken.client);
  broken.holdAnswers();
  const lost = refusalOf(worker.persist(2n, row("two"), worker.fence, broken.client));
  await waitUntil("the second write is committed", () => committed(worker) === 2);
  broken.cut();
  expect(await lost).toBe("UNAVAILABLE");

  const next = (await wireOf(worker)).client;
  expect(await refusalOf(worker.persist(2n, row("two"), worker.fence, next))).toBe("PERMISSION_DENIED");
  expect((await adoptOver(next, worker)).lastSequence).toBe(2n);
  expect(await worker.persist(2n, row("two"), worker.fence, next)).toMatchObject({
    replayed: true,
    firstRow: first.firstRow + 1n,
  });
  expect(await refusalOf(worker.persist(2n, row("other"), worker.fence, next))).toBe("SEQUENCE_CONFLICT");
  expect((await worker.persist(3n, row("three"), worker.fence, next)).replayed).toBe(false);
  expect(await rowsOf(run)).toEqual(["hello", "one", "two", "three"]);
  worker.result({ finalResponse: "" });
  expect((await run.outcome()).outcome).toBe("COMPLETED");
});

test("OW09 the first adoption, too, may come over a connection of its own, and the turn runs", async () => {
  const { run, worker } = await beginTurn(gateway(), workers);
  await worker.bootstrapped();
  const own = (await wireOf(worker)).client;
  await adoptOver(own, worker);
  worker.ready();
  await worker.beat();
  await worker.persist(1n, row("one"), worker.fence, own);
  expect(await refusalOf(worker.persist(2n, row("no")))).toBe("PERMISSION_DENIED");
  worker.result({ finalResponse: "" });
  expect((await run.outcome()).outcome).toBe("COMPLETED");
  expect(await rowsOf(run)).toEqual(["hello", "one"]);
});

test("OW23 OW-R23 the connection that adopted last is the one that may write; an earlier one may adopt again", async () => {
  const { run, worker } = await beginRunning();
  const second = (await wireOf(worker)).client;
  await adoptOver(second, worker);
  expect(await refusalOf(worker.persist(1n, row("no")))).toBe("ADOPTION_REPLACED");
  expect(await refusalOf(worker.finishExecution(0n))).toBe("ADOPTION_REPLACED");
  await worker.persist(1n, row("one"), worker.fence, second);
  await worker.adopt();
  expect(await refusalOf(worker.persist(2n, row("no"), worker.fence, second))).toBe("ADOPTION_REPLACED");
  await worker.persist(2n, row("two"));
  expect(await rowsOf(run)).toEqual(["hello", "one", "two"]);
  worker.result({ finalResponse: "" });
  await run.outcome();
});

test("OW09 F3 another process is refused although it has the secret, and changes nothing for the worker", async () => {
  const { run, worker } = await beginRunning();
  const thief = stranger();
  expect(await refusalOf(adoptOver(thief, worker))).toBe("ADOPTION_MISMATCH");
  expect(await refusalOf(adoptOver(thief, worker, { pid: process.pid }))).toBe("ADOPTION_MISMATCH");
  expect(await refusalOf(worker.persist(1n, row("no"), worker.fence, thief))).toBe("PERMISSION_DENIED");
  await worker.persist(1n, row("one"));
  worker.result({ finalResponse: "" });
  await run.outcome();
  expect(await rowsOf(run)).toEqual(["hello", "one"]);
});

test("OW09 OW23 a second connection with another secret or an old fence is refused, and the first one stays", async () => {
  const { run, worker } = await beginRunning();
  const { executionId, epoch, generation } = worker.fence;
  const second = (await wireOf(worker)).client;
  const refused = (changes: AdoptChanges) => refusalOf(adoptOver(second, worker, changes));
  expect(await refused({ assignmentSecret: Buffer.alloc(32) })).toBe("ADOPTION_MISMATCH");
  expect(await refused({ pid: process.pid })).toBe("ADOPTION_MISMATCH");
  expect(await refused({ fence: { executionId, epoch: epoch - 1n, generation } })).toBe("STALE_EPOCH");
  expect(await refused({ fence: { executionId, epoch, generation: generation + 1n } })).toBe("STALE_GENERATION");
  expect(await refusalOf(worker.persist(1n, row("no"), worker.fence, second))).toBe("PERMISSION_DENIED");
  await worker.persist(1n, row("one"));
  worker.result({ finalResponse: "" });
  await run.outcome();
  expect(await rowsOf(run)).toEqual(["hello", "one"]);
});

test("OW13 OW-R3 nothing adopts a turn that has ended: after its store stream, and once nothing of it is left", async () => {
  const { run, worker } = await beginRunning();
  const nothingLeft = new Promise<void>((resolve) => {
    const stop = gateway().rooms.owner.onTurnTimes(() => {
      stop();
      resolve();
    });
  });
  worker.result({ finalResponse: "" });
  await worker.next("finish");
  const second = (await wireOf(worker)).client;
  await adoptOver(second, worker);
  expect(await refusalOf(worker.persist(1n, row("no"), worker.fence, second))).toBe("EXECUTION_ENDED");
  await unaryCall(second, Store.finishExecution, { fence: worker.fence, lastSequence: 0n });
  expect(await refusalOf(adoptOver(second, worker))).toBe("EXECUTION_ENDED");
  worker.send({ $case: "finished", value: {} });
  worker.exit(0);
  expect((await run.outcome()).outcome).toBe("COMPLETED");
  await nothingLeft;
  expect(await refusalOf(adoptOver(stranger(), worker))).toBe("UNKNOWN_EXECUTION");
});

test("F33 a worker that has lost its stream cannot go on by a connection of its own: the turn is lost", async () => {
  const { run, worker } = await beginRunning();
  const second = (await wireOf(worker)).client;
  await adoptOver(second, worker);
  worker.cut();
  // Behind the end of the stream on the same connection: once it is answered, the owner has seen that end.
  expect(await refusalOf(worker.persist(1n, row("no")))).toBe("ADOPTION_REPLACED");
  // Its process is ended soon after, and with it every way to the owner.
  expect(["EXECUTION_ENDED", "UNKNOWN_EXECUTION", "UNAVAILABLE"]).toContain(await refusalOf(adoptOver(second, worker)));
  expect((await run.outcome()).outcome).toBe("FAILED");
});
