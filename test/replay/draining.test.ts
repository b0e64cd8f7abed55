import { existsSync } from "node:fs";
import { expect, test } from "vitest";

import { RpcError } from "../../src/rpc/rpcError.js";
import { ConversationMessage, MessageRole } from "../../src/gen/talaria/types/v1/conversation.js";
import { refusalOf, sessionOf } from "../kit/turnClient.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";

const workers = useForeignWorkers();
const gateway = useTestGateway({
  agents: { foreign: { runtime: "command", worker: { command: workers.command } } },
  budgets: { drainMs: 5_000 },
});

test("OW19 OW20 OW21 F7 TE-2 a drain refuses new turns while the running one writes on and ends, and its socket goes last", async () => {
  const { client, rows, context, gateway: running } = gateway();
  const run = client.run("foreign", "first", { requestId: "one" });
  const sessionId = await sessionOf(run);
  const worker = await workers.next();
  await worker.running();
  const queued = client.say(sessionId, "second");
  await queued.next("inputQueued");
  const launches = rows("SELECT 1 FROM launches").length;

  const drained = running.drain(10_000);
  await worker.next("draining");
  const refused = await client.run("foreign", "third").ended();
  expect(refused).toMatchObject({ reason: "DRAINING", details: { retryAfterMs: 5_000 } });
  expect(refused).toBeInstanceOf(RpcError);
  expect(await refusalOf(client.say(sessionId, "fourth"))).toBe("DRAINING");
  expect(existsSync(context.paths.ownerSocket)).toBe(true);
  const written = await worker.persist(1n, {
    $case: "appendMessages",
    value: {
      messages: [ConversationMessage.fromPartial({ role: MessageRole.MESSAGE_ROLE_ASSISTANT, text: "while draining" })],
    },
  });
  expect(written.replayed).toBe(false);
  worker.result({ finalResponse: "ended" });
  await worker.leave(1n);
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "ended" });
  const texts = rows<{ text: string }>("SELECT text FROM messages WHERE session_id = ? ORDER BY row", sessionId);
  expect(texts.map(({ text }) => text)).toEqual(["first", "while draining", "ended"]);
  const inputs = rows<{ text: string; state: string }>("SELECT text, state FROM inputs ORDER BY sequence");
  expect(inputs).toEqual([
    { text: "first", state: "ended" },
    { text: "second", state: "queued" },
  ]);
  expect(rows("SELECT 1 FROM launches")).toHaveLength(launches);
  await drained;
  expect(existsSync(context.paths.ownerSocket)).toBe(false);
});
