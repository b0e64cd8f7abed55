import { expect, test } from "vitest";

import { ChildEnded } from "../../gen/talaria/owner/v1/execution_store_service.js";
import { TurnOutcome } from "../../gen/talaria/types/v1/result.js";
import { reasonNumber } from "../../rpc/reasonNumber.js";
import { RpcError } from "../../rpc/rpcError.js";
import { delegateTool } from "./delegateTool.js";

const run = { callId: "call_1", signal: new AbortController().signal };

function tool(delegate: (task: string) => Promise<ChildEnded>, childDepth = 0, signal = run.signal) {
  return delegateTool({ delegate, signal, assignment: { childDepth } });
}

async function resultOf(end: Parameters<typeof ChildEnded.fromPartial>[0]): Promise<unknown> {
  const text = await tool(async () => ChildEnded.fromPartial(end))?.run({ task: "count" }, run);
  return JSON.parse(text ?? "");
}

test("the answer of a child is the tool's result", async () => {
  const tasks: string[] = [];
  const text = await tool(async (task) => {
    tasks.push(task);
    return ChildEnded.fromPartial({ outcome: TurnOutcome.TURN_OUTCOME_COMPLETED, answer: "three" });
  })?.run({ task: "count" }, run);
  expect(tasks).toEqual(["count"]);
  expect(JSON.parse(text ?? "")).toEqual({ status: "completed", answer: "three" });
});

test("a child that does not complete is a result that says how it ended", async () => {
  const failure = { reason: reasonNumber("WORKER_EXITED"), message: "It ended." };
  expect(await resultOf({ outcome: TurnOutcome.TURN_OUTCOME_FAILED, answer: "half", failure })).toMatchObject({
    status: "failed",
    answer: "half",
    reason: "WORKER_EXITED",
    error: "It ended.",
  });
  expect(await resultOf({ outcome: TurnOutcome.TURN_OUTCOME_INTERRUPTED })).toMatchObject({ status: "stopped" });
  expect(await resultOf({ outcome: TurnOutcome.TURN_OUTCOME_CANCELLED })).toMatchObject({ status: "stopped" });
  expect(await resultOf({ outcome: TurnOutcome.TURN_OUTCOME_UNKNOWN })).toMatchObject({ status: "unknown" });
  expect(await resultOf({ outcome: TurnOutcome.TURN_OUTCOME_COMPLETED, answer: "a", answerTruncated: true })).toEqual({
    status: "completed",
    answer: "a",
    answer_truncated: true,
  });
});

test("a refusal is a result, and so are arguments that are none", async () => {
  const refused = await tool(() => Promise.reject(new RpcError("CHILD_LIMIT")))?.run({ task: "count" }, run);
  expect(JSON.parse(refused ?? "")).toMatchObject({ status: "refused", reason: "CHILD_LIMIT" });
  const never = tool(() => Promise.reject(new Error("was asked")));
  for (const args of [{}, { task: " " }, { task: 3 }, { task: "x".repeat(16_385) }, { task: "a\0b" }]) {
    expect(JSON.parse((await never?.run(args, run)) ?? "")).toMatchObject({
      status: "refused",
      reason: "INVALID_FIELD",
    });
  }
});

test("what is no refusal, and a stop, are thrown", async () => {
  await expect(tool(() => Promise.reject(new Error("broken")))?.run({ task: "count" }, run)).rejects.toThrow("broken");
  const stop = new AbortController();
  const stopped = tool(
    () => {
      stop.abort(new RpcError("TURN_STOPPED"));
      return Promise.reject(new RpcError("CANCELLED"));
    },
    0,
    stop.signal,
  );
  await expect(stopped?.run({ task: "count" }, run)).rejects.toMatchObject({ reason: "TURN_STOPPED" });
});

test("a child of a child has no tool to delegate with", () => {
  const never = () => Promise.reject(new Error("was asked"));
  expect(tool(never, 1)?.name).toBe("delegate");
  expect(tool(never, 2)).toBeUndefined();
});
