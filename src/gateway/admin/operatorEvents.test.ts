import { expect, test } from "vitest";

import { FakeClock } from "../../base/testing/fakeClock.js";
import { createOperatorEvents, type OperatorEvent } from "./operatorEvents.js";

const trouble = (agent: string): OperatorEvent => ({ $case: "workerTrouble", value: { agent, failure: undefined } });
const never = new AbortController().signal;

async function collect(
  watch: AsyncIterable<{ cursor: unknown; event?: { $case: string; value: unknown } | undefined }>,
) {
  const seen: unknown[] = [];
  for await (const { event } of watch) seen.push(event?.$case === "workerTrouble" ? event.value : event?.$case);
  return seen;
}

test("a watch without a cursor begins with what comes next and ends with the events", async () => {
  const events = createOperatorEvents(3, new FakeClock());
  events.publish(trouble("before"));
  const seen = collect(events.watch(undefined, never));
  events.publish(trouble("after"));
  events.end();
  expect(await seen).toEqual([{ agent: "after", failure: undefined }]);
});

test("a watch resumes after its cursor", async () => {
  const events = createOperatorEvents(3, new FakeClock());
  for (const name of ["a", "b", "c"]) events.publish(trouble(name));
  events.end();
  expect(await collect(events.watch({ epoch: 3n, sequence: 1n }, never))).toMatchObject([
    { agent: "b" },
    { agent: "c" },
  ]);
});

test.each([
  ["of another epoch", { epoch: 2n, sequence: 1n }],
  ["that was never given out", { epoch: 3n, sequence: 9n }],
])("a cursor %s gets a gap, then what is kept", async (_, cursor) => {
  const events = createOperatorEvents(3, new FakeClock());
  events.publish(trouble("a"));
  events.end();
  expect(await collect(events.watch(cursor, never))).toMatchObject(["gap", { agent: "a" }]);
});

test("a watcher that is too far behind gets a gap, never silence", async () => {
  const events = createOperatorEvents(3, new FakeClock());
  for (let count = 0; count < 1_005; count++) events.publish(trouble(String(count)));
  events.end();
  const seen = await collect(events.watch({ epoch: 3n, sequence: 0n }, never));
  expect(seen).toHaveLength(1_001);
  expect(seen.slice(0, 2)).toMatchObject(["gap", { agent: "5" }]);
});

test("a watch ends with its call", async () => {
  const events = createOperatorEvents(3, new FakeClock());
  const call = new AbortController();
  const seen = collect(events.watch(undefined, call.signal));
  call.abort();
  expect(await seen).toEqual([]);
});
