import { afterAll, expect, test } from "vitest";

import { NO_RESULT } from "../../src/worker/runtimes/openai/pairToolCalls.js";
import { startScriptedModel } from "../kit/scriptedModel.js";
import { calling, saying } from "../kit/scriptedModelReplies.js";
import { sessionOf } from "../kit/turnClient.js";
import { useTestGateway } from "../kit/useTestGateway.js";

const model = await startScriptedModel();
const gateway = useTestGateway({
  agents: {
    dying: model.agent("dying", { approvals: "allow" }),
    parent: model.agent("parent"),
    bare: model.agent("bare", { tools: [] }),
  },
});
afterAll(() => model.close());

test("a worker that dies inside a tool leaves a history that the next turn can send", async () => {
  model.script(
    "dying",
    calling(
      { id: "w", name: "write_file", arguments: { path: "a", content: "x" } },
      { id: "k", name: "terminal", arguments: { command: "while [ ! -e a ]; do :; done; kill -9 $PPID; sleep 60" } },
    ),
  );
  const run = gateway().client.run("dying", "die");
  const ended = await run.outcome();
  expect(ended.outcome).toBe("UNKNOWN");
  const sessionId = await sessionOf(run);
  await gateway().client.acknowledge(sessionId, ended.turn.executionId);
  model.script("dying", saying("Still here."));
  expect(await gateway().client.say(sessionId, "and now?").outcome()).toMatchObject({
    outcome: "COMPLETED",
    answer: "Still here.",
  });
  const { messages } = (await model.asked("dying", 2)).body;
  expect(messages.find(({ role }) => role === "assistant")?.tool_calls?.map(({ id }) => id)).toEqual(["w", "k"]);
  const results = messages.filter(({ role }) => role === "tool");
  expect(results.map(({ tool_call_id: id }) => id)).toEqual(["w", "k"]);
  expect(results[1]?.content).toBe(NO_RESULT);
  expect(messages.at(-1)?.role).toBe("user");
});

test("a task is given to a child turn, which has the same model and tools", async () => {
  model.script(
    "parent",
    calling({ id: "d", name: "delegate", arguments: { task: "Add 2 and 2." } }),
    saying("It is 4."),
    saying("My helper says 4."),
  );
  const run = gateway().client.run("parent", "Have it added.");
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "My helper says 4." });
  const child = await model.asked("parent", 2);
  expect(child.body.messages.at(-1)).toEqual({ role: "user", content: "Add 2 and 2." });
  const last = await model.asked("parent", 3);
  expect(JSON.parse(String(last.body.messages.at(-1)?.content))).toEqual({ status: "completed", answer: "It is 4." });
});

test("an agent without tools is offered none", async () => {
  model.script("bare", saying("Fine."));
  expect((await gateway().client.run("bare", "hello").outcome()).answer).toBe("Fine.");
  expect((await model.asked("bare", 1)).body).not.toHaveProperty("tools");
});
