import { createHash } from "node:crypto";
import { expect, test } from "vitest";

import type { StoreOperation } from "../../src/gen/talaria/owner/v1/execution_store_service.js";
import { ConversationMessage, MessageRole } from "../../src/gen/talaria/types/v1/conversation.js";
import { reasonNumber } from "../../src/rpc/reasonNumber.js";
import type { Reason } from "../../src/rpc/reasons.js";
import type { ForeignWorker } from "../kit/foreignWorkers.js";
import { type Ended, refusalOf, sessionOf } from "../kit/turnClient.js";
import { beginRunningTurn, beginTurn } from "../kit/heldTurn.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";

const workers = useForeignWorkers();
const gateway = useTestGateway({
  agents: { foreign: { runtime: "command", worker: { command: workers.command } } },
});

/** Begins a turn with a worker in the test's hands. */
const begin = () => beginTurn(gateway(), workers);

/** A turn whose worker has come to `running`. */
const beginRunning = () => beginRunningTurn(gateway(), workers);

const append = (text: string): StoreOperation["operation"] & object => ({
  $case: "appendMessages",
  value: { messages: [ConversationMessage.fromPartial({ role: MessageRole.MESSAGE_ROLE_ASSISTANT, text })] },
});

test("a foreign worker that keeps the contract runs a turn to its end", async () => {
  const { run, worker } = await beginRunning();
  worker.say("from ");
  worker.say("afar");
  worker.result({ finalResponse: "from afar" });
  await worker.leave();
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "from afar" });
  expect(run.text).toBe("from afar");
});

test("a heartbeat on the heels of hello is no fault", async () => {
  const { run, worker } = await begin();
  await worker.connected();
  worker.open();
  worker.hello();
  worker.send({ $case: "heartbeat", value: { loopDelayMs: 0, residentBytes: 1n, usage: undefined } });
  await worker.next("bootstrap");
  await worker.next("ack");
  worker.exit(0);
  expect((await run.outcome()).outcome).toBe("FAILED");
});

const badFirst: readonly [string, (worker: ForeignWorker) => void, string][] = [
  ["no hello first", (worker) => worker.ready(), "FRAME_OUT_OF_PHASE"],
  [
    "a first sequence that is not 1",
    (worker) => worker.send({ $case: "heartbeat", value: { loopDelayMs: 0, residentBytes: 0n, usage: undefined } }, 7n),
    "FRAME_OUT_OF_PHASE",
  ],
];
test.each(badFirst)("F2 %s is refused and the turn fails", async (_name, say, reason) => {
  const { run, worker } = await begin();
  await worker.connected();
  worker.open();
  say(worker);
  expect((await worker.ended())?.reason).toBe(reason);
  worker.exit(3);
  expect(await run.outcome()).toMatchObject({ outcome: "FAILED", reason: "WORKER_EXITED" });
});

type Fault = readonly [name: string, commit: (worker: ForeignWorker) => void, reason: string];
const frame = (sequence?: bigint) => (worker: ForeignWorker) => {
  const value = { loopDelayMs: 0, residentBytes: 0n, usage: undefined };
  if (sequence === undefined) worker.send({ $case: "heartbeat", value });
  else worker.send({ $case: "heartbeat", value }, sequence);
};

const early: readonly Fault[] = [
  ["ready before adopting", (worker) => worker.ready(), "FRAME_OUT_OF_PHASE"],
  ["events before ready", (worker) => worker.say("early"), "FRAME_OUT_OF_PHASE"],
  ["a result before ready", (worker) => worker.result(), "FRAME_OUT_OF_PHASE"],
  ["finished before a result", (worker) => worker.send({ $case: "finished", value: {} }), "FRAME_OUT_OF_PHASE"],
  ["a second hello", (worker) => worker.hello(), "FRAME_OUT_OF_PHASE"],
];
test.each(early)("OW-R29 F24 %s ends the turn as failed", async (_name, commit, reason) => {
  const { run, worker } = await begin();
  await worker.bootstrapped();
  commit(worker);
  expect(await run.outcome()).toMatchObject({ outcome: "FAILED", reason });
});

const late: readonly Fault[] = [
  ["a skipped sequence", frame(99n), "FRAME_SEQUENCE"],
  ["a repeated sequence", frame(1n), "FRAME_SEQUENCE"],
  ["a frame without content", (worker) => worker.send(undefined), "FRAME_INVALID"],
  ["an empty batch", (worker) => worker.send({ $case: "events", value: { events: [] } }), "FRAME_INVALID"],
  [
    "an event without content",
    (worker) => worker.send({ $case: "events", value: { events: [{ event: undefined }] } }),
    "FRAME_INVALID",
  ],
  ["an empty delta", (worker) => worker.say(""), "FRAME_INVALID"],
  ["a delta over its bytes", (worker) => worker.say("ü".repeat(131_073)), "FRAME_INVALID"],
  ["a batch of too many events", (worker) => worker.say("x", 4_097), "FRAME_INVALID"],
  ["a second ready", (worker) => worker.ready(), "FRAME_OUT_OF_PHASE"],
  [
    "a result without content",
    (worker) => worker.send({ $case: "result", value: { result: undefined } }),
    "WORKER_RESULT_INVALID",
  ],
  [
    "a prompt without an id",
    (worker) => worker.send({ $case: "clarify", value: { promptId: "", request: undefined } }),
    "FRAME_INVALID",
  ],
  [
    "an end of a prompt that is not a worker's",
    (worker) => worker.send({ $case: "promptSettled", value: { promptId: "p", end: 1 } }),
    "FRAME_INVALID",
  ],
];
test.each(late)("OW47 F18 %s ends the turn as failed", async (_name, commit, reason) => {
  const { run, worker } = await beginRunning();
  commit(worker);
  expect(await run.outcome()).toMatchObject({ outcome: "FAILED", reason });
  expect((await worker.next("close")).detail).toBe(reasonNumber(reason as Reason));
});

test("F20 ready in the name of another process is refused", async () => {
  const { run, worker } = await begin();
  await worker.bootstrapped();
  await worker.adopt();
  worker.ready(process.pid);
  expect(await run.outcome()).toMatchObject({ outcome: "FAILED", reason: "WORKER_PID_MISMATCH" });
});

const results: readonly [string, Parameters<ForeignWorker["result"]>[0], string][] = [
  ["an error over 4,096 code points", { error: "x".repeat(4_097), failed: true }, "error"],
  ["an answer over 1 MiB inline", { finalResponse: "x".repeat(1_048_577) }, "finalResponse"],
  ["a count over 2^53", { promptTokens: 2n ** 53n + 1n }, "promptTokens"],
  ["a cost that is no number", { estimatedCostUsd: Number.NaN }, "estimatedCostUsd"],
  ["a negative cost", { estimatedCostUsd: -1 }, "estimatedCostUsd"],
  ["a cost without end", { estimatedCostUsd: Number.POSITIVE_INFINITY }, "estimatedCostUsd"],
  ["a billing page that is not https", { billingBlock: { billingUrl: "http://x.test" } }, "billingUrl"],
  ["another session's id", { sessionId: "ses_other" }, "session_id"],
  ["a digest that is none", { finalResponse: "", answer: { sha256: Buffer.alloc(5), sizeBytes: 5n } }, "sha256"],
  ["an answer beside a chunked one", { finalResponse: "x", answer: { sha256: Buffer.alloc(32) } }, "final_response"],
];
test("OW45 F25 a result with the largest counts that the contract allows is kept, and its session can be read", async () => {
  const { run, worker } = await beginRunning();
  const most = 2n ** 53n;
  worker.result({ finalResponse: "done", promptTokens: most, completionTokens: most });
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "done" });
  await worker.next("finish");
  await worker.leave();
  const sessionId = await sessionOf(run);
  const rows = gateway().rows<{ tokens: number }>(
    "SELECT input_tokens AS tokens FROM sessions WHERE session_id = ?",
    sessionId,
  );
  expect(rows).toEqual([{ tokens: Number.MAX_SAFE_INTEGER }]);
});

test.each(results)("OW45 F25 a result with %s is refused, naming the field", async (_name, result, field) => {
  const { run, worker } = await beginRunning();
  worker.result(result);
  const ended = await run.outcome();
  expect(ended).toMatchObject({ outcome: "FAILED", reason: "WORKER_RESULT_INVALID" });
  expect(ended.message).toContain(field);
});

test("an answer in chunks must have the digest that the result names", async () => {
  const good = await beginRunning();
  await good.worker.persist(1n, { $case: "appendAnswerChunk", value: { text: "long " } });
  await good.worker.persist(2n, { $case: "appendAnswerChunk", value: { text: "answer" } });
  const sha256 = createHash("sha256").update("long answer").digest();
  good.worker.result({ finalResponse: "", answer: { sha256, sizeBytes: 11n } });
  expect((await good.run.outcome()).outcome).toBe("COMPLETED");
  const bad = await beginRunning();
  await bad.worker.persist(1n, { $case: "appendAnswerChunk", value: { text: "other" } });
  bad.worker.result({ finalResponse: "", answer: { sha256, sizeBytes: 11n } });
  expect(await bad.run.outcome()).toMatchObject({ outcome: "FAILED", reason: "WORKER_RESULT_INVALID" });
  expect(bad.run.kinds.filter((kind) => kind === "turnEnded")).toHaveLength(1);
});

test("OW22 F31 a store write whose answer was lost is replayed with its first answer, and nothing is written twice", async () => {
  const { run, worker } = await beginRunning();
  const first = await worker.persist(1n, append("one"));
  const again = await worker.persist(1n, append("one"));
  expect(again).toEqual({ ...first, replayed: true });
  expect(await refusalOf(worker.persist(1n, append("other")))).toBe("SEQUENCE_CONFLICT");
  expect(await refusalOf(worker.persist(3n, append("gap")))).toBe("STALE_SEQUENCE");
  await worker.persist(2n, append("two"));
  const sessionId = await sessionOf(run);
  const rows = gateway().rows<{ text: string }>("SELECT text FROM messages WHERE session_id = ?", sessionId);
  expect(rows.map(({ text }) => text)).toEqual(["hello", "one", "two"]);
  worker.result({ finalResponse: "" });
  await run.outcome();
});

test("OW-R24 OW23 every fence has its own reason, and a stale writer writes nothing", async () => {
  const { run, worker } = await begin();
  const { epoch, generation, executionId } = await worker.bootstrapped();
  const write = (fence: ForeignWorker["fence"]) => refusalOf(worker.persist(1n, append("no"), fence));
  expect(await write(worker.fence)).toBe("PERMISSION_DENIED");
  expect(await refusalOf(worker.adopt({ assignmentSecret: Buffer.alloc(32) }))).toBe("ADOPTION_MISMATCH");
  expect(await refusalOf(worker.adopt({ pid: process.pid }))).toBe("ADOPTION_MISMATCH");
  expect(await refusalOf(worker.adopt({ fence: { executionId, epoch: epoch - 1n, generation } }))).toBe("STALE_EPOCH");
  expect(await refusalOf(worker.adopt({ fence: { executionId, epoch, generation: generation + 1n } }))).toBe(
    "STALE_GENERATION",
  );
  await worker.adopt();
  expect(await write({ executionId, epoch: epoch - 1n, generation })).toBe("STALE_EPOCH");
  expect(await write({ executionId, epoch, generation: generation + 1n })).toBe("STALE_GENERATION");
  expect(await write({ executionId: `exe_${"0".repeat(26)}`, epoch, generation })).toBe("PERMISSION_DENIED");
  worker.ready();
  worker.result();
  await worker.next("finish");
  expect(await write(worker.fence)).toBe("EXECUTION_ENDED");
  await run.outcome();
  const rows = gateway().rows("SELECT text FROM messages WHERE session_id = ?", await sessionOf(run));
  expect(rows.map((row) => (row as { text: string }).text)).toEqual(["hello", "done"]);
});

test("OW-R23 OW09 a second connection of the same process may not write for the execution of the first", async () => {
  const { run, worker } = await beginRunning();
  const write = worker.persist(1n, append("no"), worker.fence, worker.connectAgain());
  expect(await refusalOf(write)).toBe("PERMISSION_DENIED");
  worker.result();
  await run.outcome();
});

test("F24 a second result is refused and the first one stands", async () => {
  const { run, worker } = await beginRunning();
  worker.result({ finalResponse: "first" });
  worker.result({ finalResponse: "second" });
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "first" });
  expect(gateway().rows("SELECT 1 FROM messages WHERE text IN ('first', 'second')")).toHaveLength(1);
});

test("F11 F34 a worker's own error ends the turn with its reason", async () => {
  const { run, worker } = await beginRunning();
  worker.send({ $case: "error", value: { reason: 0, message: "my own words" } });
  const ended: Ended = await run.outcome();
  expect(ended).toMatchObject({ outcome: "FAILED", reason: "WORKER_REPORTED_ERROR", message: "my own words" });
});
