import fc from "fast-check";
import { expect, test } from "vitest";
import { toWellFormed } from "../base/codePoints.js";
import { createDeferred } from "../base/deferred.js";
import { AttachRequest } from "../gen/talaria/owner/v1/owner_service.js";
import { DeltaChannel, type TurnEvent } from "../gen/talaria/types/v1/event.js";
import { FrameSender } from "./frameSender.js";

/** A transport whose writes complete when the test says so. */
class FakeSink {
  readonly frames: AttachRequest[] = [];
  readonly sizes: number[] = [];
  readonly written: (() => void)[] = [];
  accepts = true;
  #drain = createDeferred<void>();

  sendNow(bytes: Uint8Array, onWritten?: () => void): boolean {
    this.frames.push(AttachRequest.decode(bytes));
    this.sizes.push(bytes.length);
    if (onWritten) this.written.push(onWritten);
    return this.accepts;
  }

  drained(): Promise<void> {
    return this.#drain.promise;
  }

  drain(): void {
    this.accepts = true;
    this.#drain.resolve();
    this.#drain = createDeferred();
  }

  completeWrites(): void {
    for (const run of this.written.splice(0)) run();
  }

  get events(): TurnEvent[] {
    return this.frames.flatMap(({ frame }) => (frame?.$case === "events" ? frame.value.events : []));
  }

  get texts(): string[] {
    return this.events.map(({ event }) => (event?.$case === "delta" ? event.value.text : `<${String(event?.$case)}>`));
  }
}

const answer = DeltaChannel.DELTA_CHANNEL_ANSWER;

function delta(text: string, channel: DeltaChannel = answer): TurnEvent {
  return { event: { $case: "delta", value: { text, channel } } };
}

async function isPending(promise: Promise<void>): Promise<boolean> {
  let pending = true;
  void promise.then(() => (pending = false));
  await new Promise((resolve) => setImmediate(resolve));
  return pending;
}

test("an event goes at once where nothing is in flight; what gathers meanwhile goes joined when the write completes", () => {
  const sink = new FakeSink();
  const sender = new FrameSender(sink, 1_048_576);
  for (const text of ["a", "b", "c"]) void sender.emit(delta(text));
  expect(sink.texts).toEqual(["a"]);
  sink.completeWrites();
  expect(sink.texts).toEqual(["a", "bc"]);
  expect(sink.frames.map(({ sequence }) => sequence)).toEqual([1n, 2n]);
});

test("deltas of different channels are not joined, and a frame keeps its place among events", () => {
  const sink = new FakeSink();
  const sender = new FrameSender(sink, 1_048_576);
  void sender.emit(delta("first"));
  void sender.emit(delta("a"));
  void sender.emit(delta("thought", DeltaChannel.DELTA_CHANNEL_REASONING));
  void sender.emit(delta("b"));
  void sender.send({ $case: "finished", value: {} });
  void sender.emit(delta("c"));
  expect(sink.frames).toHaveLength(1);
  sink.completeWrites();
  sink.completeWrites();
  expect(sink.texts).toEqual(["first", "a", "thought", "b", "c"]);
  expect(sink.frames.map(({ frame }) => frame?.$case)).toEqual(["events", "events", "finished", "events"]);
});

test("what has left is known when the write that held it completes, whatever is emitted behind it", async () => {
  const sink = new FakeSink();
  const sender = new FrameSender(sink, 1_048_576);
  expect(await isPending(sender.left())).toBe(false);
  void sender.emit(delta("before"));
  void sender.emit(delta("with it"));
  const left = sender.left();
  void sender.emit(delta("behind"));
  void sender.send({ $case: "finished", value: {} });
  sink.completeWrites();
  expect(sink.texts).toEqual(["before", "with it"]);
  expect(await isPending(left)).toBe(true);
  sink.completeWrites();
  expect(await isPending(left)).toBe(false);
  expect(sink.texts).toEqual(["before", "with it", "behind"]);
  expect(sink.frames.at(-1)?.frame?.$case).toBe("finished");
});

test("nobody waits for what leaves a sender that is closed", async () => {
  const sink = new FakeSink();
  const sender = new FrameSender(sink, 1_048_576);
  void sender.emit(delta("in flight"));
  const left = sender.left();
  expect(await isPending(left)).toBe(true);
  sender.close(new Error("the call has ended"));
  expect(await isPending(left)).toBe(false);
  expect(await isPending(sender.left())).toBe(false);
});

test("a transport that is behind is left alone until it has caught up", async () => {
  const sink = new FakeSink();
  const sender = new FrameSender(sink, 1_048_576);
  sink.accepts = false;
  void sender.emit(delta("a"));
  sink.completeWrites();
  void sender.emit(delta("b"));
  void sender.emit(delta("c"));
  expect(sink.texts).toEqual(["a"]);
  sink.drain();
  await new Promise((resolve) => setImmediate(resolve));
  expect(sink.texts).toEqual(["a", "bc"]);
});

test("emitting waits at the bound, and an ack lets it go on", async () => {
  const sink = new FakeSink();
  const sender = new FrameSender(sink, 10_000);
  const waits: Promise<void>[] = [];
  for (let i = 0; i < 40; i++) {
    waits.push(sender.emit(delta("x".repeat(500))));
    sink.completeWrites();
  }
  expect(sender.outstandingBytes).toBeLessThanOrEqual(10_000);
  expect(await isPending(waits.at(-1)!)).toBe(true);
  const sent = sink.frames.length;
  sender.acknowledge(BigInt(sent));
  sink.completeWrites();
  expect(sink.frames.length).toBeGreaterThan(sent);
});

test("heartbeats go past events that wait for credit, and a frame over the bound goes alone", () => {
  const sink = new FakeSink();
  const sender = new FrameSender(sink, 2_000);
  void sender.emit(delta("x".repeat(5_000)));
  void sender.emit(delta("waits"));
  sink.completeWrites();
  expect(sink.texts).toHaveLength(1);
  sender.sendUrgent({ $case: "heartbeat", value: { loopDelayMs: 1, residentBytes: 2n, usage: undefined } });
  expect(sink.frames.at(-1)?.frame?.$case).toBe("heartbeat");
  expect(() => {
    sender.acknowledge(3n);
  }).toThrow(RangeError);
  sender.acknowledge(2n);
  expect(sink.texts.at(-1)).toBe("waits");
});

test("a frame that has to wait for credit says so once, however often it is looked at", () => {
  const sink = new FakeSink();
  let starved = 0;
  const sender: FrameSender = new FrameSender(sink, 1_000, () => {
    starved += 1;
    sender.sendUrgent({ $case: "heartbeat", value: { loopDelayMs: 0, residentBytes: 1n, usage: undefined } });
  });
  void sender.emit(delta("x".repeat(600)));
  void sender.send({ $case: "error", value: { reason: 0, message: "y".repeat(600) } });
  sink.completeWrites();
  sink.completeWrites();
  expect(starved).toBe(1);
  expect(sink.frames.map(({ frame }) => frame?.$case)).toEqual(["events", "heartbeat"]);
  sender.acknowledge(2n);
  expect(sink.frames.at(-1)).toMatchObject({ sequence: 3n, frame: { $case: "error" } });
});

test("closing fails the frames that wait and lets emitters go", async () => {
  const sink = new FakeSink();
  const sender = new FrameSender(sink, 100);
  void sender.emit(delta("x".repeat(200)));
  const emitted = sender.emit(delta("y".repeat(200)));
  const sent = sender.send({ $case: "finished", value: {} });
  sender.close(new Error("gone"));
  await emitted;
  await expect(sent).rejects.toThrow("gone");
  await expect(sender.send({ $case: "finished", value: {} })).rejects.toThrow("gone");
});

test("whatever the order of writes and acks, all text arrives in order and the bound holds", () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant("emit" as const),
      text: fc.string({ minLength: 1, maxLength: 300, unit: "binary" }),
    }),
    fc.record({ kind: fc.constantFrom("write" as const, "ack" as const, "urgent" as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
      const bound = 4_096;
      const sink = new FakeSink();
      const sender = new FrameSender(sink, bound);
      let expected = "";
      const urgent = steps.filter(({ kind }) => kind === "urgent").length;
      for (const one of steps) {
        if (one.kind === "emit") {
          const text = toWellFormed(one.text);
          expected += text;
          void sender.emit(delta(text));
        } else if (one.kind === "write") sink.completeWrites();
        else if (one.kind === "urgent")
          sender.sendUrgent({ $case: "heartbeat", value: { loopDelayMs: 0, residentBytes: 1n, usage: undefined } });
        else sender.acknowledge(BigInt(sink.frames.length));
        const largest = Math.max(0, ...sink.sizes);
        // Urgent frames, of at most 16 bytes here, may go over.
        expect(sender.outstandingBytes).toBeLessThanOrEqual(Math.max(bound, largest) + urgent * 16);
      }
      for (let i = 0; i < 400; i++) {
        sink.completeWrites();
        sender.acknowledge(BigInt(sink.frames.length));
      }
      expect(sink.texts.join("")).toBe(expected);
      expect(sink.frames.map(({ sequence }) => sequence)).toEqual(sink.frames.map((_, at) => BigInt(at + 1)));
    }),
  );
});
