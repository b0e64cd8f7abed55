import { afterAll, expect, test } from "vitest";

import { send } from "../dm/calls.js";
import { startScriptedModel } from "../kit/scriptedModel.js";
import { calling, saying } from "../kit/scriptedModelReplies.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitFor } from "../kit/waitFor.js";

const model = await startScriptedModel();
const gateway = useTestGateway({
  agents: {
    alice: model.agent("alice", { title: "Alice" }),
    bob: model.agent("bob", { title: "Bob", description: "Knows the answer" }),
  },
});
afterAll(() => model.close());

test("two agents write to each other through the tools that their models call", async () => {
  model.script(
    "alice",
    calling({ id: "m1", name: "message_agent", arguments: { target: "bob", message: "What is the answer?" } }),
    saying("I have asked Bob."),
    saying("Bob says 42."),
  );
  model.script("bob", saying("The answer is 42."));
  await send(gateway().client.client, { target: "alice", body: "Ask Bob for the answer." });

  const first = await model.asked("alice", 1);
  const [system, input] = first.body.messages;
  expect(system).toMatchObject({ role: "system", content: expect.stringContaining("`bob` Bob: Knows the answer") });
  expect(input?.content).toMatch(/^Message from .*:\nAsk Bob for the answer\.$/);
  expect(first.body.tools?.map((tool) => tool.function.name)).toEqual(
    expect.arrayContaining(["message_agent", "check_delivery"]),
  );
  const second = await model.asked("alice", 2);
  expect(JSON.parse(String(second.body.messages.at(-1)?.content))).toMatchObject({
    status: "queued",
    to: "@bob",
    reply_via: "notification",
  });

  const atBob = await model.asked("bob", 1);
  expect(atBob.body.messages.at(-1)).toEqual({
    role: "user",
    content: "Message from Alice (@alice):\nWhat is the answer?",
  });

  const third = await model.asked("alice", 3);
  expect(third.body.messages.at(-1)).toEqual({ role: "user", content: "Reply from Bob (@bob):\nThe answer is 42." });
  const ends = await waitFor("every turn has ended", () => {
    const rows = gateway().rows<{ outcome: string | null }>("SELECT outcome FROM inputs");
    return rows.length === 3 && rows.every(({ outcome }) => outcome !== null) ? { found: rows } : { state: rows };
  });
  expect(ends.map(({ outcome }) => outcome)).toEqual(["completed", "completed", "completed"]);
});

test("a target that is nobody is a refusal that the model reads", async () => {
  model.script(
    "bob",
    calling({ id: "m2", name: "message_agent", arguments: { target: "carol", message: "Hello?" } }),
    calling({ id: "m3", name: "message_agent", arguments: { target: "alice" } }),
    saying("Nobody there."),
  );
  await send(gateway().client.client, { target: "bob", body: "Write to Carol." });
  const refused = JSON.parse(String((await model.asked("bob", 3)).body.messages.at(-1)?.content)) as object;
  expect(refused).toMatchObject({ status: "refused", reason: "UNKNOWN_TARGET", retry: "after_change" });
  const wrong = JSON.parse(String((await model.asked("bob", 4)).body.messages.at(-1)?.content)) as object;
  expect(wrong).toMatchObject({
    status: "refused",
    reason: "INVALID_FIELD",
    error: expect.stringContaining("message"),
  });
});
