import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";

import { TurnPhase } from "../../src/gen/talaria/gateway/v1/turn_service.js";
import { describeTurn, refusalOf, sessionOf } from "../kit/turnClient.js";
import { useTestGateway } from "../kit/useTestGateway.js";

const gateway = useTestGateway({ poolSize: 2 });

test("a turn streams to its caller and to a second client, and both see the same end", async () => {
  const { client, connect } = gateway();
  const requestId = randomUUID();
  const warm = client.run("echo", "first");
  const sessionId = await sessionOf(warm);
  expect((await warm.outcome()).outcome).toBe("COMPLETED");
  const watch = connect().watch(sessionId);
  await watch.next("snapshot");
  const run = client.say(sessionId, "one two three", { requestId });
  const ended = await run.outcome();
  expect(ended).toMatchObject({ outcome: "COMPLETED", reason: "", answer: "one two three" });
  expect(run.text).toBe("one two three");
  await watch.outcome();
  expect(watch.text).toBe("one two three");
  const told = ["snapshot", "inputQueued", "turnStarted", "events", "turnEnded"];
  expect([...new Set(watch.kinds)].filter((kind) => told.includes(kind))).toEqual(told);
  const phases = watch.items.map(({ update }) => (update?.$case === "phaseChanged" ? update.value.phase : undefined));
  expect(phases.filter((phase) => phase !== undefined && phase !== TurnPhase.TURN_PHASE_FINISHED).slice(0, 5)).toEqual([
    TurnPhase.TURN_PHASE_PROVED,
    TurnPhase.TURN_PHASE_BOOTSTRAPPED,
    TurnPhase.TURN_PHASE_ADOPTED,
    TurnPhase.TURN_PHASE_RUNNING,
    TurnPhase.TURN_PHASE_RESULT,
  ]);
  expect(await run.ended()).toBeUndefined();
  watch.cancel();
});

test("OW53 the same request replays its turn, running and ended; other content under it conflicts", async () => {
  const { client, connect } = gateway();
  const requestId = randomUUID();
  const first = client.run("echo", "!say once\n!sleep 60000", { requestId });
  const executionId = await first.started();
  await first.saw("once");
  const joined = connect().run("echo", "!say once\n!sleep 60000", { requestId });
  const queued = await joined.next("inputQueued");
  expect(queued.replayed).toBe(true);
  expect(await joined.started()).toBe(executionId);
  await joined.saw("once");
  expect(await refusalOf(client.run("echo", "something else", { requestId }))).toBe("REQUEST_CONFLICT");
  await client.stop(executionId);
  const [one, two] = await Promise.all([first.outcome(), joined.outcome()]);
  expect(one.turn).toEqual(two.turn);
  const again = client.run("echo", "!say once\n!sleep 60000", { requestId });
  expect((await again.outcome()).turn.executionId).toBe(executionId);
  expect(again.kinds).toEqual(["inputQueued", "turnEnded"]);
  expect(gateway().rows("SELECT 1 FROM inputs WHERE request_id = ?", requestId)).toHaveLength(1);
});

test("an unknown agent, session, execution or input is refused and leaves no row", async () => {
  const { client, rows } = gateway();
  const count = (): number => rows("SELECT 1 FROM inputs").length + rows("SELECT 1 FROM sessions").length;
  const before = count();
  const id = (kind: string): string => `${kind}_${"0".repeat(26)}`;
  expect(await refusalOf(client.run("nobody", "hello"))).toBe("UNKNOWN_AGENT");
  expect(await refusalOf(client.say(id("ses"), "hello"))).toBe("UNKNOWN_SESSION");
  expect(await refusalOf(client.stop(id("exe")))).toBe("UNKNOWN_EXECUTION");
  expect(await refusalOf(client.cancelInput(id("inp")))).toBe("UNKNOWN_INPUT");
  expect(await refusalOf(client.run("echo", ""))).toBe("INVALID_FIELD");
  expect(await refusalOf(client.run("echo", "cut\0 short"))).toBe("INVALID_FIELD");
  expect(count()).toBe(before);
});

test("OW43 F35 a turn that fails says why, and its session goes on", async () => {
  const { client } = gateway();
  const run = client.run("echo", "!fail PROVIDER_QUOTA no money left");
  const sessionId = await sessionOf(run);
  const ended = await run.outcome();
  expect(ended).toMatchObject({ outcome: "FAILED", reason: "PROVIDER_QUOTA", message: "no money left", answer: "" });
  expect(ended.turn.result).toMatchObject({
    completed: false,
    failed: true,
    interrupted: false,
    error: "no money left",
  });
  expect((await client.say(sessionId, "and now").outcome()).answer).toBe("and now");
});

test("F26 an answer of many megabytes is kept whole", async () => {
  const { client, rows } = gateway();
  const run = client.run("echo", "!repeat 300000 0123456789");
  const { turn, outcome } = await run.outcome();
  expect(outcome).toBe("COMPLETED");
  expect(turn.result?.answer?.sizeBytes).toBe(3_000_000n);
  const kept = rows<{ text: string }>(
    "SELECT text FROM messages WHERE session_id = ? AND role = 'assistant' ORDER BY row",
    turn.sessionId,
  ).map(({ text }) => text);
  expect(kept.join("")).toBe("0123456789".repeat(300_000));
  // No row is longer than what one message carries.
  expect(Math.max(...kept.map((text) => text.length))).toBeLessThanOrEqual(262_144);
});

test("the reader of a finished turn finds it by input and by execution", async () => {
  const { client } = gateway();
  const ended = await client.run("echo", "found").outcome();
  const { turn } = await client.turn(ended.turn.inputId);
  // Its worker may have left meanwhile.
  expect(describeTurn({ ...turn, phase: ended.turn.phase })).toEqual(ended);
});
