import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";

import { ApprovalChoice } from "../../src/gen/talaria/types/v1/prompt.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { sessionOf } from "../kit/turnClient.js";
import { ended, send } from "./calls.js";

const echo = { runtime: "echo" };
const gateway = useTestGateway({ agents: { alice: { ...echo, main: true }, bob: echo } });

/** Sends a message to an agent and waits for its end. @returns the reply */
async function replyTo(target: string, body: string, onBehalfOf = ""): Promise<string> {
  const { client } = gateway().client;
  const { delivery } = await send(client, { requestId: randomUUID(), target, body, onBehalfOf });
  const end = await ended(client, delivery.deliveryId);
  return end.reply?.text ?? "";
}

test("what always holds for a person's own turns holds for no message", async () => {
  const { client } = gateway();
  const first = client.run("alice", "!approve make");
  await client.choose((await first.next("promptRaised")).promptId, ApprovalChoice.APPROVAL_CHOICE_ALWAYS);
  expect((await first.outcome()).answer).toContain("approved");
  expect((await client.run("alice", "!approve make").outcome()).answer).toContain("approved");

  expect(await replyTo("alice", "!approve make")).toContain("denied");
});

test("a message's turn asks a viewer who may answer, and nobody else", async () => {
  const { client } = gateway();
  expect(await replyTo("bob", "!approve rm")).toContain("denied");
  const [chat] = gateway().rows<{ id: string }>(
    "SELECT session_id AS id FROM sessions WHERE agent = 'bob' AND bot_chat = 1",
  );
  const watch = client.watch(chat?.id ?? "", { answersPrompts: true });
  await watch.next("snapshot");
  const reply = replyTo("bob", "!approve rm");
  const { promptId } = await watch.next("promptRaised");
  await client.choose(promptId, ApprovalChoice.APPROVAL_CHOICE_ONCE);
  expect(await reply).toContain("approved");
  watch.cancel();
  expect(await sessionOf(client.run("bob", "bye"))).not.toBe(chat?.id);
});
