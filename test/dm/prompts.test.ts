import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";

import { ApprovalChoice } from "../../src/gen/talaria/types/v1/prompt.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { sessionOf } from "../kit/turnClient.js";
import { waitFor } from "../kit/waitFor.js";
import { ended, send } from "./calls.js";

const echo = { runtime: "echo" };
const gateway = useTestGateway({ agents: { alice: { ...echo, main: true }, bob: echo } });

/** Sends a message to an agent and waits for its end. @returns the reply */
async function replyTo(target: string, body: string, onBehalfOf = ""): Promise<{ id: string; text: string }> {
  const { client } = gateway().client;
  const { delivery } = await send(client, { requestId: randomUUID(), target, body, onBehalfOf });
  const end = await ended(client, delivery.deliveryId);
  return { id: end.deliveryId, text: end.reply?.text ?? "" };
}

/** The answer of the turn that told a session of a delivery's end. */
function answerToNotice(deliveryId: string): Promise<string> {
  return waitFor("the notice's turn has ended", () => {
    const [input] = gateway().rows<{ state: string; session_id: string }>(
      "SELECT state, session_id FROM inputs WHERE in_reply_to = ?",
      deliveryId,
    );
    if (input?.state !== "ended") return { state: input };
    const [row] = gateway().rows<{ text: string }>(
      "SELECT text FROM messages WHERE session_id = ? AND role = 'assistant' ORDER BY row DESC LIMIT 1",
      input.session_id,
    );
    return { found: row?.text ?? "" };
  });
}

test("what always holds for a person's own turns holds for no message, and for no reply", async () => {
  const { client } = gateway();
  const first = client.run("alice", "!approve make");
  await client.choose((await first.next("promptRaised")).promptId, ApprovalChoice.APPROVAL_CHOICE_ALWAYS);
  expect((await first.outcome()).answer).toContain("approved");
  expect((await client.run("alice", "!approve make").outcome()).answer).toContain("approved");

  expect((await replyTo("alice", "!approve make")).text).toContain("denied");
  const { id, text } = await replyTo("bob", "!say !approve make", "alice");
  expect(text).toBe("!approve make");
  expect(await answerToNotice(id)).toContain("denied");
});

test("a message's turn asks a viewer who may answer, and nobody else", async () => {
  const { client } = gateway();
  expect((await replyTo("bob", "!approve rm")).text).toContain("denied");
  const [chat] = gateway().rows<{ id: string }>(
    "SELECT session_id AS id FROM sessions WHERE agent = 'bob' AND bot_chat = 1",
  );
  const watch = client.watch(chat?.id ?? "", { answersPrompts: true });
  await watch.next("snapshot");
  const reply = replyTo("bob", "!approve rm");
  const { promptId } = await watch.next("promptRaised");
  await client.choose(promptId, ApprovalChoice.APPROVAL_CHOICE_ONCE);
  expect((await reply).text).toContain("approved");
  watch.cancel();
  expect(await sessionOf(client.run("bob", "bye"))).not.toBe(chat?.id);
});
