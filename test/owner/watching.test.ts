import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";

import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { sessionOf, type UpdateLog } from "../kit/turnClient.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitUntil } from "../kit/waitFor.js";

const workers = useForeignWorkers();
const gateway = useTestGateway({
  agents: {
    echo: { runtime: "echo" },
    foreign: { runtime: "command", worker: { command: workers.command } },
  },
  maxWorkers: 2,
  budgets: { finishWaitMs: 3_500, storeCallMs: 3_000 },
});

test("turns beyond the cap wait, a turn that waits for a person gives its place up, and all get their turn", async () => {
  const { client, rooms } = gateway();
  const asking = client.run("echo", "!approve one");
  const { promptId } = await asking.next("promptRaised");
  await waitUntil("the turn that waits holds no place", () => rooms.owner.counts().inUse === 0);
  const [second, third, fourth] = [2, 3, 4].map((text) => client.run("foreign", String(text)));
  if (second === undefined || third === undefined || fourth === undefined) throw new Error("no turns");
  const one = await workers.next();
  const two = await workers.next();
  await Promise.all([one.running(), two.running()]);
  await fourth.next("inputQueued");
  expect(rooms.owner.counts().inUse).toBe(2);
  expect(fourth.kinds).toEqual(["inputQueued"]);
  // The person's answer lets the waiting turn go on although the cap is full: it cannot be held up by those behind it.
  await client.choose(promptId, 1);
  expect(await asking.outcome()).toMatchObject({ outcome: "COMPLETED", reason: "" });
  one.result();
  await one.next("finish");
  one.exit(0);
  const three = await workers.next();
  await three.running();
  for (const worker of [two, three]) {
    worker.result();
    await worker.next("finish");
    worker.exit(0);
  }
  for (const run of [second, third, fourth]) expect((await run.outcome()).outcome).toBe("COMPLETED");
});

test("a session with many inputs does not hold back another: each gets its turn in between", async () => {
  const { client, rows } = gateway();
  const busy = client.run("echo", "!approve hold");
  const busySession = await sessionOf(busy);
  const other = client.run("echo", "!approve hold too");
  const otherSession = await sessionOf(other);
  const prompts = [(await busy.next("promptRaised")).promptId, (await other.next("promptRaised")).promptId];
  const followers = [1, 2, 3].map((text) => client.say(busySession, String(text)));
  followers.push(client.say(otherSession, "other"));
  await followers.at(-1)?.next("inputQueued");
  for (const promptId of prompts) await client.choose(promptId, 1);
  await Promise.all(followers.map((follower) => follower.outcome()));
  const order = rows<{ text: string }>(
    "SELECT text FROM inputs WHERE session_id IN (?, ?) ORDER BY started_at, sequence",
    busySession,
    otherSession,
  ).map(({ text }) => text);
  expect(order.indexOf("other")).toBeLessThan(order.indexOf("3"));
});

test("a session of long inputs is watched with as many of them as one message carries, and they are all there in the end", async () => {
  const { client, rows } = gateway();
  const first = client.run("echo", "!approve hold");
  const sessionId = await sessionOf(first);
  const { promptId } = await first.next("promptRaised");
  const followers: UpdateLog[] = [];
  for (const letter of ["a", "b", "c", "d", "e"]) {
    const follower = client.say(sessionId, letter.repeat(1_000_000));
    await follower.next("inputQueued");
    followers.push(follower);
  }
  const { queued, messages } = await client.watch(sessionId).next("snapshot");
  expect(queued.map(({ text }) => text[0])).toEqual(["a", "b", "c"]);
  expect(messages).toHaveLength(1);
  await client.choose(promptId, 1);
  for (const follower of followers) expect((await follower.outcome()).outcome).toBe("COMPLETED");
  const running = () =>
    rows("SELECT 1 FROM sessions WHERE running_execution_id IS NOT NULL AND session_id = ?", sessionId);
  await waitUntil("the session is free", () => running().length === 0);
  const snapshot = await client.watch(sessionId, { snapshotRows: 100 }).next("snapshot");
  expect(snapshot.messages.map(({ text }) => text[0])).toEqual(["d", "e", "e"]);
});

test("a Bot Chat goes on behind an unknown outcome: the next message runs, a boundary is written", async () => {
  const { client, rows } = gateway();
  const send = async (body: string): Promise<string> => {
    const { delivery } = await unaryCall(client.client, DirectMessageServiceService.sendDirectMessage, {
      requestId: randomUUID(),
      target: "agent:foreign",
      body,
      inReplyTo: "",
      onBehalfOf: "",
      trace: undefined,
    });
    return delivery?.deliveryId ?? "";
  };
  const first = await send("first");
  const worker = await workers.next();
  await worker.running();
  worker.startTool("one");
  await worker.beat();
  worker.exit(1);
  await send("second");
  const next = await workers.next();
  await next.running();
  next.result({ finalResponse: "went on" });
  await next.next("finish");
  const seen = rows<{ text: string; boundary: number }>(
    "SELECT messages.text, boundary FROM messages JOIN sessions USING (session_id) WHERE bot_chat = 1 ORDER BY row",
  );
  expect(seen.map(({ text, boundary }) => (boundary === 1 ? "boundary" : text))).toEqual([
    "first",
    "boundary",
    "second",
    "went on",
  ]);
  const [delivery] = rows<{ state: string }>("SELECT state FROM deliveries WHERE delivery_id = ?", first);
  expect(delivery?.state.toUpperCase()).toBe("UNKNOWN");
});
