import { expect, test } from "vitest";
import { Reason } from "../../src/gen/talaria/reason/v1/reason.js";
import type { OwnerFrame } from "../../src/worker/attachSession.js";
import { useScriptedOwner } from "./useScriptedOwner.js";

const fixture = useScriptedOwner();

test.each<[string, OwnerFrame | undefined, Reason]>([
  ["finish before result", { $case: "finish", value: {} }, Reason.REASON_FRAME_OUT_OF_PHASE],
  [
    "an answer before bootstrap",
    { $case: "clarifyAnswer", value: { promptId: "x", text: "", end: 1 } },
    Reason.REASON_FRAME_OUT_OF_PHASE,
  ],
  ["an empty frame", undefined, Reason.REASON_FRAME_INVALID],
  ["an ack of a frame that was not sent", { $case: "ack", value: { sequence: 99n } }, Reason.REASON_FRAME_INVALID],
])("F28 F29 %s is answered with an error frame and exit 70", async (_, frame, reason) => {
  const { worker, attachment } = await fixture.attach();
  await attachment.next("hello");
  attachment.send(frame);
  expect((await attachment.next("error")).reason).toBe(reason);
  attachment.end();
  expect((await worker.exited()).code).toBe(70);
});

test("F28 a second bootstrap is out of phase", async () => {
  const { worker, attachment } = await fixture.attach();
  attachment.bootstrap("!sleep 3600000");
  await attachment.next("ready");
  attachment.bootstrap("again");
  expect((await attachment.next("error")).reason).toBe(Reason.REASON_FRAME_OUT_OF_PHASE);
  attachment.send({ $case: "close", value: { reason: 4, detail: Reason.REASON_FRAME_OUT_OF_PHASE, message: "" } });
  attachment.end();
  expect((await worker.exited()).code).toBe(70);
});

test("F11 a bad bootstrap names its fields and never their values", async () => {
  const { worker, attachment } = await fixture.attach();
  attachment.bootstrap("hello", { executionId: "nonsense-id", assignmentSecret: Buffer.alloc(5), protocol: 9 });
  const error = await attachment.next("error");
  expect(error.reason).toBe(Reason.REASON_FRAME_INVALID);
  expect(error.message).toBe("The bootstrap breaks the contract: protocol, execution_id, assignment_secret.");
  attachment.end();
  expect((await worker.exited()).code).toBe(70);
  expect(fixture.owner.store.adopts).toHaveLength(1);
});

test.each([["nope", 'There is no runtime "nope"; this worker has: echo, acp, openai.']])(
  "OW55 F34 the runtime %s is a configuration error",
  async (runtime, message) => {
    const { worker, attachment } = await fixture.attach();
    attachment.bootstrap("hello", { policy: { runtime } });
    expect(await attachment.next("error")).toEqual({ reason: Reason.REASON_RUNTIME_CONFIG, message });
    attachment.end();
    expect((await worker.exited()).code).toBe(70);
  },
);

test("dry runs come back with their payload, then the turn runs", async () => {
  const { worker, attachment } = await fixture.attach();
  await attachment.next("hello");
  for (const round of [1, 2, 3]) {
    attachment.send({
      $case: "dryRun",
      value: { round, payload: Buffer.alloc(4_096, round), likelyRuntime: round === 1 ? "openai" : "" },
    });
    expect(await attachment.next("dryRunDone")).toEqual({ round, payload: Buffer.alloc(4_096, round) });
  }
  attachment.bootstrap("after practice");
  expect((await attachment.next("result")).result?.finalResponse).toBe("after practice");
  attachment.send({ $case: "finish", value: {} });
  await attachment.next("finished");
  attachment.end();
  expect((await worker.exited()).code).toBe(0);
});

test("F26 an answer as large as the bound goes although the owner acknowledges sparingly", async () => {
  const { worker, attachment } = await fixture.attach();
  attachment.acknowledges = "sparingly";
  attachment.bootstrap("!repeat 1048576 x");
  const { result } = await attachment.next("result");
  expect(result?.finalResponse).toHaveLength(1_048_576);
  worker.dispose();
});

test("a worker that gets no finish says so and exits 70", async () => {
  const { worker, attachment } = await fixture.attach();
  attachment.bootstrap("hello", { budgets: { finishWait: { seconds: 0n, nanos: 100_000_000 } } });
  await attachment.next("result");
  expect((await attachment.next("error")).reason).toBe(Reason.REASON_DEADLINE_EXCEEDED);
  attachment.end();
  expect((await worker.exited()).code).toBe(70);
});

test("an owner that acknowledges nothing holds a flood at its bound, and heartbeats go on", async () => {
  const { worker, attachment } = await fixture.attach();
  attachment.acknowledges = false;
  attachment.bootstrap("!flood 1000000 64 1024", { budgets: { heartbeat: { seconds: 0n, nanos: 100_000_000 } } });
  await attachment.next("ready");
  // Once two heartbeats in a row bring no event between them, the flood stands.
  await attachment.until("a standing flood", () => {
    const [a, b] = attachment.kinds.slice(-2);
    return a === "heartbeat" && b === "heartbeat" ? { value: true } : undefined;
  });
  const { AttachRequest } = await import("../../src/gen/talaria/owner/v1/owner_service.js");
  const bytes = attachment.frames.reduce((sum, frame) => sum + AttachRequest.encode(frame).finish().length, 0);
  expect(bytes).toBeLessThanOrEqual(1_048_576);
  expect(bytes).toBeGreaterThan(900_000);
  attachment.acknowledges = true;
  attachment.send({ $case: "ack", value: { sequence: attachment.frames.at(-1)?.sequence ?? 0n } });
  await attachment.next("heartbeat");
  await attachment.until("more", () => (attachment.frames.length > 100 ? { value: true } : undefined));
  worker.dispose();
  await worker.exited();
});
