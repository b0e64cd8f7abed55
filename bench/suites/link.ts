import { Client, credentials, type ClientDuplexStream } from "@grpc/grpc-js";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { LIMITS } from "../../src/base/limits.js";
import {
  OwnerServiceService,
  type AttachRequest,
  type AttachResponse,
} from "../../src/gen/talaria/owner/v1/owner_service.js";
import { DeltaChannel, type TurnEvent } from "../../src/gen/talaria/types/v1/event.js";
import { createClient } from "../../src/rpc/clients/connectClient.js";
import { openBidi } from "../../src/rpc/clients/openBidi.js";
import { createFrameEncoder } from "../../src/worker/frameEncoder.js";
import { FrameSender } from "../../src/worker/frameSender.js";
import { startProcess, type BenchProcess } from "../lib/benchProcess.js";
import { ownCpuTime } from "../lib/cpuTime.js";
import { makeRow, type Row, type RowParts } from "../lib/row.js";
import { median } from "../lib/stats.js";
import type { LinkMethods, LinkMode } from "../processes/linkServer.js";
import { interleave, type Suite } from "../suite.js";

const BYTES = 32;
const TEXT = "x".repeat(BYTES);
const PINGS = 4_000;
const DELTAS = 20_000;
const BURST = 8;
const WARM_UP = 0.25;
/** Turns of the loop after which a writer that has not moved is held back. */
const STILL_TURNS = 200;

/** The stream between worker and owner by itself: round trips, a writer without batches, and an owner that does not read. */
export const link: Suite = async ({ rounds, scale, progress }) => {
  const server = startProcess<LinkMethods>("linkServer");
  try {
    progress("link: round trips");
    const pings = Math.max(200, Math.round(PINGS * scale));
    const trips = await interleave(rounds, ["pipe", "link"], (name) =>
      name === "pipe" ? pipeTrips(pings) : withLink(server, "echo", (address) => linkTrips(address, pings)),
    );
    progress("link: a writer, one delta and eight in each turn of the loop");
    const count = Math.max(1_000, Math.round(DELTAS * scale));
    const write = (burst: number) =>
      interleave(rounds, ["bare", "ours"], (name) =>
        withLink(
          server,
          "count",
          (address) => writerCost(server, address, { kind: name, count, burst }),
          name === "bare",
        ),
      );
    const singles = await write(1);
    const bursts = await write(BURST);
    progress("link: an owner that does not read");
    const stalled = await interleave(rounds, ["bare", "ours"], (name) =>
      withLink(server, "stalled", (address) => stalledBytes(address, name), name === "bare"),
    );
    return [
      makeRow({
        goalName: "G7",
        metric: "round trip of one small frame, p50",
        unit: "us",
        values: trips.link,
        baseline: { name: "JSON pipe", values: trips.pipe },
        goal: { of: "ratio", atMost: 2.5 },
      }),
      writerRow(bursts, BURST, { goalName: "G6", goal: { of: "ratio", atMost: 0.25 } }),
      writerRow(singles, 1),
      makeRow({
        goalName: "G6",
        metric: "bytes of text that a worker takes while the owner reads nothing",
        unit: "KiB",
        values: stalled.ours,
        goal: { of: "value", atMost: 128 },
        burst: 1,
      }),
      makeRow({
        goalName: "G6",
        metric: "the same, compared",
        unit: "KiB",
        values: stalled.ours,
        baseline: { name: "grpc-js default options", values: stalled.bare },
        goal: { of: "ratio", atMost: 1 / 6 },
        burst: 1,
      }),
    ];
  } finally {
    await server.end();
  }
};

function writerRow(
  { ours, bare }: Readonly<Record<"ours" | "bare", readonly Ends[]>>,
  burst: number,
  goal: Pick<RowParts, "goalName" | "goal"> = {},
): Row {
  const both = ({ sender, receiver }: Ends): number => sender + receiver;
  return makeRow({
    metric: "a writer's deltas, CPU of both ends per delta",
    unit: "us",
    values: ours.map(both),
    baseline: { name: "grpc-js defaults, a frame each", values: bare.map(both) },
    burst,
    cpu: { ...endsOf(ours), baseline: endsOf(bare) },
    ...goal,
  });
}

interface Ends {
  readonly sender: number;
  readonly receiver: number;
}

function endsOf(rounds: readonly Ends[]): Ends {
  return { sender: median(rounds.map((one) => one.sender)), receiver: median(rounds.map((one) => one.receiver)) };
}

async function withLink<Result>(
  server: BenchProcess<LinkMethods>,
  mode: LinkMode,
  measure: (address: string) => Promise<Result>,
  bare = false,
): Promise<Result> {
  const address = await server.call("open", { mode, bare });
  try {
    return await measure(address);
  } finally {
    await server.call("close", undefined);
  }
}

/** Round trips of a heartbeat and its ack. @returns the p50, microseconds */
async function linkTrips(address: string, count: number): Promise<number> {
  const client = createClient({ address, purpose: "unixStream", ownConnection: true });
  const call = openBidi(client, OwnerServiceService.attach);
  const answers = call.responses[Symbol.asyncIterator]();
  const times: number[] = [];
  for (let trip = 0; trip < count; trip++) {
    const began = performance.now();
    call.sendNow({
      sequence: BigInt(trip + 1),
      frame: { $case: "heartbeat", value: { loopDelayMs: 0, residentBytes: 1n, usage: undefined } },
    });
    const { done } = await answers.next();
    if (done === true) throw new Error("the stream has ended");
    times.push((performance.now() - began) * 1_000);
  }
  call.end();
  await call.ended;
  client.close();
  return median(times.slice(count * WARM_UP));
}

/** Round trips of a JSON line through a child. @returns the p50, microseconds */
async function pipeTrips(count: number): Promise<number> {
  const entry = fileURLToPath(new URL("./pipeSource.js", import.meta.url));
  const child = spawn(process.execPath, [entry, "echo"], { stdio: ["pipe", "pipe", "inherit"] });
  const times: number[] = [];
  let began = 0;
  await new Promise<void>((resolve) => {
    createInterface({ input: child.stdout, crlfDelay: Infinity }).on("line", (text) => {
      const { type } = JSON.parse(text) as { readonly type: string };
      if (type === "heartbeat") times.push((performance.now() - began) * 1_000);
      if (times.length === count) {
        resolve();
        return;
      }
      began = performance.now();
      child.stdin.write(`${JSON.stringify({ type: "heartbeat", sequence: times.length + 1, resident: 1 })}\n`);
    });
  });
  child.stdin.end();
  if (child.exitCode === null) await once(child, "exit");
  return median(times.slice(count * WARM_UP));
}

type Emit = (event: TurnEvent) => Promise<void>;

/** Opens a writer of deltas: ours, or a call with the library's default options that gets each delta as a frame of its own. */
function openWriter(address: string, kind: "bare" | "ours"): { readonly emit: Emit; readonly close: () => void } {
  if (kind === "ours") {
    const client = createClient({ address, purpose: "unixStream", ownConnection: true });
    const encodedAttach = {
      ...OwnerServiceService.attach,
      requestSerialize: (bytes: Uint8Array) => Buffer.from(bytes),
    };
    const call = openBidi(client, { ...encodedAttach, requestDeserialize: (bytes: Buffer) => bytes });
    // An owner's bound, without the acks of one: it must not be what holds the writer.
    const sender = new FrameSender(call, LIMITS.outstandingBytes * 1_024);
    return {
      emit: (event) => sender.emit(event),
      close: () => {
        call.cancel();
        client.close();
      },
    };
  }
  const client = new Client(address, credentials.createInsecure());
  const call: ClientDuplexStream<Uint8Array, AttachResponse> = client.makeBidiStreamRequest(
    OwnerServiceService.attach.path,
    (bytes: Uint8Array) => Buffer.from(bytes),
    OwnerServiceService.attach.responseDeserialize,
  );
  call.on("data", () => undefined);
  call.on("error", () => undefined);
  const encode = createFrameEncoder();
  let sequence = 0n;
  let behind: Promise<unknown> | undefined;
  return {
    async emit(event) {
      sequence += 1n;
      const frame: AttachRequest = { sequence, frame: { $case: "events", value: { events: [event] } } };
      if (call.write(encode(frame))) return;
      behind ??= once(call, "drain").then(() => (behind = undefined));
      await behind;
    },
    close: () => {
      call.cancel();
      client.close();
    },
  };
}

function delta(): TurnEvent {
  return { event: { $case: "delta", value: { text: TEXT, channel: DeltaChannel.DELTA_CHANNEL_REASONING } } };
}

async function writerCost(
  server: BenchProcess<LinkMethods>,
  address: string,
  { kind, count, burst }: { readonly kind: "bare" | "ours"; readonly count: number; readonly burst: number },
): Promise<Ends> {
  const { emit, close } = openWriter(address, kind);
  const warm = Math.floor(count * WARM_UP);
  const run = async (deltas: number): Promise<void> => {
    for (let sent = 0; sent < deltas;) {
      let credit = Promise.resolve();
      for (const until = Math.min(deltas, sent + burst); sent < until; sent++) credit = emit(delta());
      await credit;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  };
  await run(warm);
  const receiver = await server.call("counted", { bytes: warm * BYTES });
  const sender = ownCpuTime();
  await run(count - warm);
  const received = await server.call("counted", { bytes: count * BYTES });
  const ends = { sender: (ownCpuTime() - sender) / (count - warm), receiver: (received - receiver) / (count - warm) };
  close();
  return ends;
}

/** Emits until the writer is held back for good. @returns KiB of text that it has taken */
async function stalledBytes(address: string, kind: "bare" | "ours"): Promise<number> {
  const { emit, close } = openWriter(address, kind);
  let taken = 0;
  let passed = -1;
  for (let emitted = 0; passed === emitted - 1; emitted++) {
    // What was emitted is in the writer's hands whether or not it may go on.
    taken += BYTES;
    void emit(delta()).then(
      () => (passed = emitted),
      () => undefined,
    );
    for (let turn = 0; turn < STILL_TURNS && passed < emitted; turn++) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
  close();
  return taken / 1_024;
}
