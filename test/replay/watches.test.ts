import { expect, test } from "vitest";

import { sessionOf } from "../kit/turnClient.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";

const workers = useForeignWorkers();
const gateway = useTestGateway({
  agents: { echo: { runtime: "echo" }, foreign: { runtime: "command", worker: { command: workers.command } } },
});

test("A2-1 a watch that was cut comes back with its cursor and sees every change once, in order", async () => {
  const { client, connect } = gateway();
  const run = client.run("foreign", "hello");
  const sessionId = await sessionOf(run);
  const whole = connect().watch(sessionId);
  await whole.next("snapshot");
  const cut = connect().watch(sessionId);
  const { cursor: start } = await cut.first("snapshot", ({ update }) => update?.$case === "snapshot");
  const worker = await workers.next();
  await worker.running();
  worker.startTool("one");
  await cut.next("events");
  cut.cancel();
  await cut.ended();
  const { cursor } = cut.items.at(-1) ?? {};
  worker.send({
    $case: "events",
    value: { events: [{ event: { $case: "delta", value: { text: "b", channel: 1 } } }] },
  });
  await whole.saw("b");
  const resumed = connect().watch(sessionId, { cursor });
  await resumed.saw("b");
  expect(resumed.kinds).not.toContain("gap");
  expect(resumed.kinds).not.toContain("snapshot");
  worker.result({ finalResponse: "b" });
  await worker.next("finish");
  worker.exit(0);
  await Promise.all([whole.outcome(), resumed.outcome()]);
  const seen = [...cut.items.slice(1), ...resumed.items].map((one) => one.cursor?.sequence ?? 0n);
  expect(seen).toEqual([...seen].sort((a, b) => Number(a - b)));
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen[0]).toBe((start?.sequence ?? 0n) + 1n);
  // Streamed events go with their turn's end: a cursor before them is a gap, never silence.
  const late = connect().watch(sessionId, { cursor });
  await late.next("gap");
  expect((await late.next("snapshot")).messages.map(({ text }) => text)).toEqual(["hello", "b"]);
  for (const watch of [whole, resumed, late]) watch.cancel();
});

test("A2-1 a cursor of another epoch is a gap and a snapshot", async () => {
  const { client, connect } = gateway();
  const run = client.run("echo", "hello");
  await run.outcome();
  const watch = connect().watch(await sessionOf(run), { cursor: { epoch: 0n, sequence: 1n } });
  await watch.next("snapshot");
  expect(watch.kinds.slice(0, 2)).toEqual(["gap", "snapshot"]);
  watch.cancel();
});
