import { afterAll, expect, test } from "vitest";

import { DeltaChannel } from "../../src/gen/talaria/types/v1/event.js";
import { startScriptedModel } from "../kit/scriptedModel.js";
import {
  calling,
  callingInFragments,
  chunk,
  hanging,
  inPieces,
  saying,
  streaming,
  usageChunk,
} from "../kit/scriptedModelReplies.js";
import { sessionOf, type UpdateLog } from "../kit/turnClient.js";
import { useTestGateway } from "../kit/useTestGateway.js";

const model = await startScriptedModel();
const KEY = "sk-scripted-0123456789abcdef";
const agent = (name: string, more: object = {}) => model.agent(name, { api_key_env: "SCRIPTED_KEY", ...more });

const gateway = useTestGateway({
  // A busy machine takes its time over Stop; what is tested is that it comes to its end.
  budgets: { turnFinalWorkMs: 2_000, stopTermAfterMs: 2_500, stopKillAfterMs: 4_000, stopTotalMs: 6_000 },
  env: { ...process.env, SCRIPTED_KEY: KEY },
  agents: Object.fromEntries(
    ["plain", "shapes", "thinker", "files", "stopped", "asker", "history", "broken"].map((name) => [name, agent(name)]),
  ),
});
afterAll(() => model.close());

const reasoningOf = (log: UpdateLog): string =>
  log.items
    .flatMap(({ update }) => (update?.$case === "events" ? update.value.events : []))
    .map(({ event }) =>
      event?.$case === "delta" && event.value.channel === DeltaChannel.DELTA_CHANNEL_REASONING ? event.value.text : "",
    )
    .join("");

test("an answer streams, and its receipt holds what was used", async () => {
  model.script("plain", saying("Hello from a model."));
  const run = gateway().client.run("plain", "hello");
  const ended = await run.outcome();
  expect(ended).toMatchObject({ outcome: "COMPLETED", answer: "Hello from a model." });
  expect(run.text).toBe("Hello from a model.");
  expect(ended.turn.result).toMatchObject({
    model: "plain",
    requestedModel: "plain",
    servedModel: "served-model",
    apiCalls: 1,
    turnInputTokens: 120n,
    turnOutputTokens: 30n,
    cacheReadTokens: 64n,
    reasoningTokens: 12n,
  });
  const [request] = model.of("plain");
  expect(request?.path).toBe("/v1/chat/completions");
  expect(request?.headers.authorization).toBe(`Bearer ${KEY}`);
  expect(request?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  expect(request?.body.messages.at(-1)).toEqual({ role: "user", content: "hello" });
  expect(request?.body.tools?.map((tool) => tool.function.name)).toContain("read_file");
});

test("characters cut in two, chunks that say nothing and missing roles change nothing", async () => {
  const text = "Grüße, 世界 🎉 — done";
  model.script(
    "shapes",
    inPieces(
      3,
      chunk({}),
      { ping: true },
      { id: "x", choices: [] },
      chunk({ content: text.slice(0, 12) }),
      chunk({ content: null }),
      // The two halves of one character in two chunks.
      chunk({ content: text.slice(12, 14) }),
      chunk({ content: text.slice(14) }),
      chunk({}, "stop"),
      usageChunk({ prompt_tokens: "many" }),
      usageChunk(),
    ),
  );
  const run = gateway().client.run("shapes", "hello");
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: text });
  expect(run.text).toBe(text);
});

test("thoughts go beside the answer and back to the model within the turn only", async () => {
  model.script(
    "thinker",
    streaming(
      chunk({ role: "assistant", reasoning_content: "I need " }),
      chunk({ reasoning_content: "the file." }),
      chunk({
        tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "read_file", arguments: "{}" } }],
      }),
      chunk({}, "tool_calls"),
    ),
    streaming(chunk({ reasoning: "Now I know." }), chunk({ content: "Known." }), chunk({}, "stop"), usageChunk()),
    saying("Second."),
  );
  const run = gateway().client.run("thinker", "think");
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "Known." });
  expect(reasoningOf(run)).toBe("I need the file.Now I know.");
  expect(run.text).toBe("Known.");
  const second = await model.asked("thinker", 2);
  expect(second.body.messages.find(({ role }) => role === "assistant")?.reasoning_content).toBe("I need the file.");
  const next = gateway().client.say(await sessionOf(run), "again");
  expect((await next.outcome()).answer).toBe("Second.");
  const third = await model.asked("thinker", 3);
  expect(third.body.messages.filter(({ reasoning_content: thoughts }) => thoughts !== undefined)).toEqual([]);
});

test("calls in fragments run side by side, and what the tools answered goes back", async () => {
  model.script(
    "files",
    callingInFragments(
      { id: "w1", name: "write_file", arguments: { path: "notes/a.txt", content: "alpha ä" } },
      { id: "w2", name: "write_file", arguments: { path: "b.txt", content: "beta" } },
      { id: "w3", name: "write_file", arguments: { path: "../out.txt", content: "no" } },
    ),
    calling({ id: "r1", name: "read_file", arguments: { path: "notes/a.txt" } }),
    saying("It says alpha."),
  );
  const run = gateway().client.run("files", "write and read");
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "It says alpha." });
  const second = await model.asked("files", 2);
  const results = second.body.messages.filter(({ role }) => role === "tool");
  expect(results.map(({ tool_call_id: id }) => id)).toEqual(["w1", "w2", "w3"]);
  expect(results[0]?.content).toBe("Wrote notes/a.txt (8 bytes).");
  expect(results[2]?.content).toContain("path: lies outside the workspace");
  const third = await model.asked("files", 3);
  expect(third.body.messages.at(-1)).toMatchObject({ role: "tool", tool_call_id: "r1", content: "alpha ä" });
  const rows = gateway().rows<{ role: string; tool_call_id: string | null }>(
    "SELECT role, tool_call_id FROM messages WHERE session_id = ? ORDER BY row",
    await sessionOf(run),
  );
  expect(rows.map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "tool",
    "tool",
    "tool",
    "assistant",
    "tool",
    "assistant",
  ]);
});

test("broken arguments and unknown tools are failed calls, and the turn goes on", async () => {
  model.script(
    "broken",
    calling(
      { id: "x1", name: "read_file", arguments: '{"path": ' },
      { id: "x2", name: "launch", arguments: {} },
      { id: "x3", name: "read_file", arguments: { path: 7 } },
    ),
    saying("Sorry."),
  );
  const run = gateway().client.run("broken", "go");
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "Sorry." });
  const results = (await model.asked("broken", 2)).body.messages.filter(({ role }) => role === "tool");
  expect(results.map(({ content }) => content)).toEqual([
    "The arguments are not a JSON object; call it again with one.",
    expect.stringContaining('There is no tool "launch"; there is: '),
    expect.stringContaining("path: "),
  ]);
});

test("Stop in the middle of an answer keeps what was said and lets the connection go", async () => {
  model.script("stopped", hanging(chunk({ content: "So far" })));
  const run = gateway().client.run("stopped", "talk");
  const executionId = await run.started();
  await run.saw("So far");
  await gateway().client.stop(executionId);
  expect(await run.outcome()).toMatchObject({ outcome: "INTERRUPTED", answer: "So far" });
  const request = await model.asked("stopped", 1);
  expect(request.closed).toBe(true);
});

test("a person is asked through clarify, and the answer reaches the model", async () => {
  model.script(
    "asker",
    calling({
      id: "q",
      name: "clarify",
      arguments: { questions: [{ question: "Which colour?", choices: ["red", "blue"] }] },
    }),
    saying("Blue it is."),
  );
  const run = gateway().client.run("asker", "paint");
  const { promptId } = await run.next("promptRaised");
  await gateway().client.reply(promptId, "blue");
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "Blue it is." });
  const second = await model.asked("asker", 2);
  expect(JSON.parse(String(second.body.messages.at(-1)?.content))).toMatchObject({
    outcome: "submitted",
    answers: [{ question: "Which colour?", answer: "blue" }],
  });
});

test("the next turn knows the one before, and an untitled session gets a name", async () => {
  model.script("history", saying("First answer."), saying("Second answer."));
  const first = gateway().client.run("history", "first");
  const sessionId = await sessionOf(first);
  await first.outcome();
  const second = gateway().client.say(sessionId, "second");
  await second.outcome();
  expect(gateway().rows("SELECT title FROM sessions WHERE session_id = ?", sessionId)).toEqual([
    { title: "A short title" },
  ]);
  expect(
    gateway().rows("SELECT purpose, input_tokens, api_calls FROM auxiliary_usage WHERE session_id = ?", sessionId),
  ).toEqual([{ purpose: "title", input_tokens: 120, api_calls: 1 }]);
  const request = await model.asked("history", 2);
  expect(request.body.messages.map(({ role, content }) => [role, content])).toEqual([
    ["user", "first"],
    ["assistant", "First answer."],
    ["user", "second"],
  ]);
});

test("the key is in no log and nowhere in the store", () => {
  expect(model.requests.length).toBeGreaterThan(0);
  expect(gateway().log.join("\n")).not.toContain(KEY);
});
