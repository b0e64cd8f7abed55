import { setMaxListeners } from "node:events";
import type { SessionUpdate } from "../../src/gen/talaria/gateway/v1/turn_service.js";
import { createDeferred } from "../../src/base/deferred.js";
import { DeltaChannel } from "../../src/gen/talaria/types/v1/event.js";
import { TurnOutcome } from "../../src/gen/talaria/types/v1/result.js";
import type { Owner } from "../../src/owner/owner.js";
import { answerPrompt } from "../../src/owner/prompts/answerPrompt.js";
import { Watcher } from "../../src/owner/watch/watcher.js";
import { FloodMeter, type FloodFigures, type FloodShape } from "../lib/floodMeter.js";
import { admitText } from "./admitText.js";

interface Watched {
  readonly sessionId: string;
  readonly watcher: Watcher;
  /** Resolves with the prompt that the worker waits at before it begins. */
  readonly atGate: Promise<string>;
  /** Resolves with the prompt that it waits at when it has sent everything, so that its CPU time can still be read. */
  readonly atEnd: Promise<string>;
  readonly ended: Promise<void>;
}

/**
 * Runs a flood through the real path: turns of the echo runtime in worker processes, their frames proved, validated and
 * published, and a viewer of each session that counts the text. Workers wait for each other at a question before they begin.
 */
export async function floodTurns(owner: Owner, shape: FloodShape): Promise<FloodFigures> {
  const stop = new AbortController();
  // Every viewer listens to it.
  setMaxListeners(0, stop.signal);
  const meters: { meter?: FloodMeter } = {};
  const script = scriptOf(shape);
  const sessions = await Promise.all(
    Array.from({ length: shape.workers }, async () =>
      watch(owner, await admitText(owner, script), meters, shape.pauseMs !== undefined, stop.signal),
    ),
  );
  try {
    owner.wake(sessions.map(({ sessionId }) => sessionId));
    const prompts = await Promise.all(sessions.map(({ atGate }) => atGate));
    const pids = owner.turns().map((turn) => turn.link?.evidence.process.pid ?? 0);
    if (pids.length !== shape.workers) throw new Error(`${String(pids.length)} turns run`);
    const meter = (meters.meter = new FloodMeter(shape, pids));
    const ended = Promise.all(sessions.map((session) => session.ended));
    ended.catch((error: unknown) => {
      meter.fail(error instanceof Error ? error : new Error(String(error)));
    });
    for (const prompt of prompts) await answer(owner, prompt);
    const figures = await meter.figures;
    for (const { atEnd } of sessions) await answer(owner, await atEnd);
    await ended;
    const expected = shape.workers * shape.count * shape.bytes;
    // A paced flood is part of the answer, which says a few more words.
    if (shape.pauseMs === undefined && meter.bytes !== expected) {
      throw new Error(`${String(meter.bytes)} bytes arrived, ${String(expected)} were sent`);
    }
    return figures;
  } finally {
    stop.abort();
    for (const { sessionId, watcher } of sessions) owner.parts.hub.close(sessionId, watcher);
  }
}

async function answer(owner: Owner, promptId: string): Promise<void> {
  await answerPrompt(owner, promptId, { kind: "text", text: "go" }, "client:bench");
}

function scriptOf({ count, burst, bytes, pauseMs }: FloodShape): string {
  const [gate, end] = ["!ask Shall I begin?", "!ask Shall I end?"];
  if (pauseMs === undefined) return `${gate}\n!flood ${String(count)} ${String(burst)} ${String(bytes)}\n${end}`;
  // Each `say` begins a line of its own, which is the missing byte.
  return `${gate}\n${`!say ${"x".repeat(bytes - 1)}\n!sleep ${String(pauseMs)}\n`.repeat(count)}${end}`;
}

function watch(
  owner: Owner,
  sessionId: string,
  meters: { readonly meter?: FloodMeter },
  answers: boolean,
  signal: AbortSignal,
): Watched {
  const { hub } = owner.parts;
  const watcher = new Watcher(true);
  const atGate = createDeferred<string>();
  const atEnd = createDeferred<string>();
  let prompts = 0;
  hub.open(sessionId, watcher, hub.cursorOf(sessionId));
  const channel = answers ? DeltaChannel.DELTA_CHANNEL_ANSWER : DeltaChannel.DELTA_CHANNEL_REASONING;
  const follow = async (): Promise<void> => {
    for (;;) {
      const step = await watcher.next(signal);
      if (step?.kind !== "update") throw new Error("the viewer fell behind");
      const { update } = step.update;
      if (update?.$case === "events") meters.meter?.add(bytesOf(update.value.events, channel));
      else if (update?.$case === "promptRaised") (prompts++ === 0 ? atGate : atEnd).resolve(update.value.promptId);
      else if (update?.$case === "turnEnded") {
        checkOutcome(update.value);
        return;
      }
    }
  };
  const ended = follow();
  ended.catch((error: unknown) => {
    atGate.reject(error);
    atEnd.reject(error);
  });
  atEnd.promise.catch(() => undefined);
  return { sessionId, watcher, atGate: atGate.promise, atEnd: atEnd.promise, ended };
}

type Ended = Extract<NonNullable<SessionUpdate["update"]>, { $case: "turnEnded" }>["value"];
type Events = Extract<NonNullable<SessionUpdate["update"]>, { $case: "events" }>["value"]["events"];

function bytesOf(events: Events, channel: DeltaChannel): number {
  let bytes = 0;
  for (const { event } of events) {
    if (event?.$case === "delta" && event.value.channel === channel) bytes += Buffer.byteLength(event.value.text);
  }
  return bytes;
}

/** Makes sure that a turn did what it was to do. @throws Error where it did not. */
export function checkOutcome({ turn }: Ended): void {
  if (turn?.outcome === TurnOutcome.TURN_OUTCOME_COMPLETED) return;
  throw new Error(`a turn has ended with outcome ${String(turn?.outcome)}: ${JSON.stringify(turn?.failure)}`);
}
