import { expect, test } from "vitest";

import { createDeferred } from "../../../base/deferred.js";
import { RetryMode } from "../../../gen/talaria/owner/v1/owner_service.js";
import { MessageRole } from "../../../gen/talaria/types/v1/conversation.js";
import type { Tool } from "../../tools/tool.js";
import { runTurn } from "./runTurn.js";
import { asks, refuses, says, turnBench, type TurnBench } from "./testing/turnBench.js";

const { MESSAGE_ROLE_USER: USER, MESSAGE_ROLE_ASSISTANT: ASSISTANT } = MessageRole;
const tool = (name: string, run: Tool["run"]): Tool => ({ name, description: "", parameters: {}, run });
const kinds = ({ operations }: TurnBench): readonly string[] => operations.map(({ $case }) => $case);
const lastText = ({ requests }: TurnBench): string => {
  const message = requests.at(-1)?.prompt.at(-1);
  const part = message?.role === "user" ? message.content[0] : undefined;
  return part?.type === "text" ? part.text : "";
};

test("what is asked for is stored before a tool runs, and the calls of one answer run side by side", async () => {
  const gate = createDeferred<void>();
  const seen: string[] = [];
  const bench: TurnBench = turnBench({
    answers: [asks(["a", "wait", "{}"], ["b", "open", "{}"]), says("Both.")],
    tools: [
      tool("wait", async () => {
        seen.push(...kinds(bench));
        await gate.promise;
        return "waited";
      }),
      tool("open", async () => {
        gate.resolve();
        return "opened";
      }),
    ],
  });
  expect(await runTurn(bench.work)).toMatchObject({ text: "Both.", model: "bench" });
  expect(seen).toEqual(["appendMessages"]);
  expect(bench.rows.slice(2).map(({ toolCallId, text }) => [toolCallId, text])).toEqual([
    ["b", "opened"],
    ["a", "waited"],
  ]);
});

test("ids that are missing or used twice become their own", async () => {
  const bench = turnBench({
    answers: [asks(["", "x", "{}"], ["c", "x", "{}"], ["c", "x", '{"n":2}']), says("Done.")],
    tools: [tool("x", async (args) => `n=${String(args["n"])}`)],
  });
  await runTurn(bench.work);
  expect(bench.rows[1]?.toolCalls.map(({ toolCallId }) => toolCallId)).toEqual(["#1", "c", "c#3"]);
  const tools = bench.requests[1]?.prompt.at(-1);
  expect(tools?.role === "tool" ? tools.content.map((one) => ("toolCallId" in one ? one.toolCallId : "")) : []).toEqual(
    ["#1", "c", "c#3"],
  );
});

test("a key that a tool prints is kept from the transcript and from the model", async () => {
  const key = "key-0123456789";
  const bench = turnBench({
    key,
    answers: [asks(["a", "print", "{}"], ["b", "fail", "{}"]), says("Done.")],
    tools: [tool("print", async () => `the key is ${key}`), tool("fail", () => Promise.reject(new Error(`no ${key}`)))],
  });
  await runTurn(bench.work);
  expect(
    JSON.stringify([bench.rows, bench.requests], (_, value: unknown) => (typeof value === "bigint" ? "" : value)),
  ).not.toContain(key);
  expect(bench.rows.map(({ text }) => text)).toContain("the key is [redacted]");
});

test("a tool that floods is cut for the model and the transcript", async () => {
  const bench = turnBench({
    answers: [asks(["a", "flood", "{}"]), says("Done.")],
    tools: [tool("flood", async () => "ä".repeat(1_000_000))],
  });
  await runTurn(bench.work);
  const text = bench.rows[2]?.text ?? "";
  expect(Buffer.byteLength(text)).toBeLessThan(100_100);
  expect(text).toMatch(/ä\n\[… cut after 100000 bytes\]$/);
});

test("Stop leaves a tool that never returns, and the history says so", async () => {
  const bench: TurnBench = turnBench({
    answers: [asks(["a", "never", "{}"]), says("unsaid")],
    tools: [
      tool("never", () => {
        bench.stop();
        return new Promise(() => undefined);
      }),
    ],
  });
  expect(await runTurn(bench.work)).toMatchObject({ text: "" });
  expect(bench.rows.at(-1)?.text).toBe("The turn was stopped before the tool was done.");
  expect(bench.requests).toHaveLength(1);
});

test("a turn that takes the room itself is summarised up to now, and its input stays", async () => {
  const bench = turnBench({
    answers: [asks(["a", "big", "{}"]), refuses("CONTEXT_OVERFLOW"), says("It was big."), says("Done.")],
    tools: [tool("big", async () => "x".repeat(50_000))],
  });
  expect(await runTurn(bench.work)).toMatchObject({ text: "Done." });
  expect(kinds(bench)).toEqual(["appendMessages", "appendMessages", "recordAuxiliaryUsage", "compactConversation"]);
  expect(bench.requests.at(-1)?.prompt).toHaveLength(1);
  expect(lastText(bench)).toBe("[Summary of the conversation so far]\nIt was big.\n\nthe input");
});

test("a summary is made smaller while it does not fit, and written again where the session changed meanwhile", async () => {
  const bench = turnBench({
    rows: [
      { role: USER, text: "old ".repeat(5_000) },
      { role: ASSISTANT, text: "answer" },
      { role: USER, text: "as stored" },
    ],
    answers: [refuses("CONTEXT_OVERFLOW"), refuses("CONTEXT_OVERFLOW"), says("Old."), says("Done.")],
    staleWrites: 2,
  });
  expect(await runTurn(bench.work)).toMatchObject({ text: "Done." });
  const sizes = bench.requests.slice(1, 3).map(({ prompt }) => JSON.stringify(prompt).length);
  expect(sizes[1]).toBeLessThan(sizes[0] ?? 0);
  expect(bench.rows.map(({ compacted }) => compacted)).toEqual([true, true, false, false]);
});

test("a retry that wants room compacts before it asks", async () => {
  const bench = turnBench({
    rows: [
      { role: USER, text: "old" },
      { role: ASSISTANT, text: "answer" },
      { role: USER, text: "as stored", executionId: "exe_failed" },
    ],
    input: { attempt: 2, retryMode: RetryMode.RETRY_MODE_COMPRESS_THEN_RESUME },
    answers: [says("They talked."), says("Done.")],
  });
  expect(await runTurn(bench.work)).toMatchObject({ text: "Done." });
  expect(lastText(bench)).toBe("[Summary of the conversation so far]\nThey talked.\n\nthe input");
});

test("where there is nothing to summarise, or a summary does not help, the refusal stays", async () => {
  const nothing = turnBench({ answers: [refuses("CONTEXT_OVERFLOW")] });
  expect((await runTurn(nothing.work)).failure?.reason).toBe("CONTEXT_OVERFLOW");
  const twice = turnBench({
    rows: [
      { role: USER, text: "old" },
      { role: USER, text: "as stored" },
    ],
    answers: [refuses("CONTEXT_OVERFLOW"), says("Short."), refuses("CONTEXT_OVERFLOW")],
  });
  expect((await runTurn(twice.work)).failure?.reason).toBe("CONTEXT_OVERFLOW");
  expect(twice.requests).toHaveLength(3);
});

test("the last request of a limited turn has no calls, and its answer counts", async () => {
  const bench = turnBench({
    limit: 2,
    answers: [asks(["a", "x", "{}"]), says("As far as I know.")],
    tools: [tool("x", async () => "y")],
  });
  expect(await runTurn(bench.work)).toMatchObject({ text: "As far as I know.", modelCallLimit: true });
  expect(bench.requests.map(({ toolChoice }) => toolChoice?.type)).toEqual(["auto", "none"]);
});

test("answers of one turn are paragraphs to viewers, and the last one is the turn's", async () => {
  const bench = turnBench({
    answers: [[...says("Let me look.").slice(0, 1), ...asks(["a", "x", "{}"])], says("Here it is.")],
    tools: [tool("x", async () => "y")],
  });
  expect((await runTurn(bench.work)).text).toBe("Here it is.");
  expect(bench.emitted.join("")).toBe("Let me look.\n\nHere it is.");
});
