import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Client } from "@grpc/grpc-js";

import {
  ExecutionStoreServiceService,
  type StoreOperation,
} from "../../src/gen/talaria/owner/v1/execution_store_service.js";
import {
  type AttachRequest,
  type AttachResponse,
  type Bootstrap,
  Hello,
  OwnerServiceService,
} from "../../src/gen/talaria/owner/v1/owner_service.js";
import { TurnResult } from "../../src/gen/talaria/types/v1/result.js";
import { createClient } from "../../src/rpc/clients/connectClient.js";
import { type BidiCall, openBidi } from "../../src/rpc/clients/openBidi.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { RpcError } from "../../src/rpc/rpcError.js";
import { StreamLog } from "./streamLog.js";

type WorkerFrame = NonNullable<AttachRequest["frame"]>;
type OwnerFrame = NonNullable<AttachResponse["frame"]>;
type ValueOf<K extends OwnerFrame["$case"]> = Extract<OwnerFrame, { $case: K }>["value"];
type Operation = NonNullable<StoreOperation["operation"]>;

/** What a relay process reports. */
type RelayEvent =
  | { kind: "attached"; token: string; pid: number; birth: string; path: string }
  | { kind: "spawned"; pid: number }
  | { kind: "ownerGone" | "sigterm" | "ignoring" | "printed" };

const RELAY = fileURLToPath(new URL("./relayWorker.mjs", import.meta.url));

/** A launched process in whose name the test speaks to the owner. */
export class ForeignWorker {
  /** What its process has reported. */
  readonly events = new StreamLog<RelayEvent>();
  /** The owner's frames. */
  readonly frames = new StreamLog<AttachResponse>(({ frame }) => frame?.$case);
  readonly #control: Socket;
  #client: Client | undefined;
  #call: BidiCall<AttachRequest, AttachResponse> | undefined;
  readonly #others: Client[] = [];
  #sequence = 0n;
  #launched: Extract<RelayEvent, { kind: "attached" }> | undefined;
  #bootstrap: Bootstrap | undefined;

  constructor(control: Socket) {
    this.#control = control;
    control.on("error", () => undefined);
    control.on("close", () => {
      this.events.end();
    });
    createInterface({ input: control }).on("line", (line) => {
      this.events.add(JSON.parse(line) as RelayEvent);
    });
  }

  /** Its pid, its birth and the token it was given. */
  get launched(): { readonly pid: number; readonly birth: bigint; readonly token: Buffer } {
    const { pid = 0, birth = "0", token = "" } = this.#launched ?? {};
    return { pid, birth: BigInt(birth), token: Buffer.from(token, "base64url") };
  }

  /** The assignment. @throws Error before it has come. */
  get bootstrap(): Bootstrap {
    if (this.#bootstrap === undefined) throw new Error("no bootstrap yet");
    return this.#bootstrap;
  }

  /** A connection through its process. */
  get client(): Client {
    if (this.#client === undefined) throw new Error("not connected");
    return this.#client;
  }

  /** Waits for its process. */
  async connected(): Promise<void> {
    const is = (event: RelayEvent): boolean => event.kind === "attached";
    this.#launched = (await this.events.first("launched", is)) as Extract<RelayEvent, { kind: "attached" }>;
    this.#client = createClient({ address: `unix:${this.#launched.path}`, purpose: "unixStream", ownConnection: true });
  }

  /** Opens the stream. */
  open(): void {
    this.#call = openBidi(this.client, OwnerServiceService.attach);
    this.#sequence = 0n;
    this.frames.follow(this.#call.responses);
  }

  /** Says hello, with what is changed. */
  hello(changes: Parameters<typeof Hello.fromPartial>[0] = {}): void {
    const { pid, birth, token } = this.launched;
    this.send({
      $case: "hello",
      value: Hello.fromPartial({
        token,
        process: { pid, birth, bootId: "" },
        build: { name: "foreign", version: "1", runtime: "test" },
        protocol: { min: 1, max: 1 },
        ...changes,
      }),
    });
  }

  /** Sends a frame; one after the stream's end goes nowhere. @param sequence default the next. */
  send(frame: WorkerFrame | undefined, sequence = this.#sequence + 1n): void {
    this.#sequence = sequence;
    try {
      this.#call?.sendNow({ sequence, frame });
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  }

  /** Breaks its stream; its process stays. */
  cut(): void {
    this.#call?.cancel();
  }

  /** Ends its half. */
  end(): void {
    this.#call?.end();
  }

  /** How the stream ended. */
  ended(): Promise<RpcError | undefined> {
    if (this.#call === undefined) throw new Error("no stream");
    return this.#call.ended;
  }

  /** Waits for a frame of the owner. */
  async next<K extends OwnerFrame["$case"]>(kind: K): Promise<ValueOf<K>> {
    const found = await this.frames.first(`frame ${kind}`, ({ frame }) => frame?.$case === kind);
    return found.frame?.value as ValueOf<K>;
  }

  /** Comes to its assignment. */
  async bootstrapped(): Promise<Bootstrap> {
    await this.connected();
    this.open();
    this.hello();
    this.#bootstrap = await this.next("bootstrap");
    return this.#bootstrap;
  }

  /** Comes to a turn that the owner, too, holds for running: until then a stop would end the process without a frame. */
  async running(): Promise<Bootstrap> {
    const bootstrap = await this.bootstrapped();
    await this.adopt();
    this.ready();
    await this.beat();
    return bootstrap;
  }

  /** Gives a sign of life, and waits until the owner has taken in everything up to it. */
  async beat(): Promise<void> {
    this.send({ $case: "heartbeat", value: { loopDelayMs: 0, residentBytes: 0n, usage: undefined } });
    const sent = this.#sequence;
    await this.frames.first(
      `ack of ${String(sent)}`,
      ({ frame }) => frame?.$case === "ack" && frame.value.sequence >= sent,
    );
  }

  /** The assignment's fence. */
  get fence(): { executionId: string; epoch: bigint; generation: bigint } {
    const { executionId, epoch, generation } = this.bootstrap;
    return { executionId, epoch, generation };
  }

  /** Adopts the assignment. */
  adopt(changes: { fence?: ForeignWorker["fence"]; pid?: number; assignmentSecret?: Buffer } = {}) {
    return unaryCall(this.client, ExecutionStoreServiceService.adopt, {
      fence: this.fence,
      assignmentSecret: this.bootstrap.assignmentSecret,
      pid: this.launched.pid,
      ...changes,
    });
  }

  /** Writes to its session. */
  persist(sequence: bigint, operation: Operation, fence = this.fence, client = this.client) {
    return unaryCall(client, ExecutionStoreServiceService.persist, { fence, sequence, operation: { operation } });
  }

  /** Opens a second connection through its process. Closed with the worker. */
  connectAgain(): Client {
    const client = createClient({
      address: `unix:${this.#launched?.path ?? ""}`,
      purpose: "unixStream",
      ownConnection: true,
    });
    this.#others.push(client);
    return client;
  }

  /** Ends its store stream. */
  finishExecution(lastSequence: bigint, fence = this.fence) {
    return unaryCall(this.client, ExecutionStoreServiceService.finishExecution, { fence, lastSequence });
  }

  /** Leaves as it should once its result was taken: at `finish` it ends its store stream, says that it has finished and exits. */
  async leave(lastSequence = 0n): Promise<void> {
    await this.next("finish");
    await this.finishExecution(lastSequence);
    this.send({ $case: "finished", value: {} });
    this.end();
    this.exit(0);
  }

  /** Says that the turn runs. */
  ready(pid = this.launched.pid): void {
    this.send({ $case: "ready", value: { pid, model: "none" } });
  }

  /** Streams text, in one frame. @param times how often. */
  say(text: string, times = 1): void {
    const events = Array.from(
      { length: times },
      () => ({ event: { $case: "delta", value: { text, channel: 1 } } }) as const,
    );
    this.send({ $case: "events", value: { events } });
  }

  /** Begins a tool call. */
  startTool(toolCallId: string): void {
    const value = { toolCallId, name: "terminal", arguments: undefined, truncated: false };
    this.send({ $case: "events", value: { events: [{ event: { $case: "toolStarted", value } }] } });
  }

  /** Gives its result. */
  result(changes: Parameters<typeof TurnResult.fromPartial>[0] = {}): void {
    this.send({ $case: "result", value: { result: TurnResult.fromPartial({ finalResponse: "done", ...changes }) } });
  }

  /** Ends its process. */
  exit(code: number): void {
    this.#order({ kind: "exit", code });
  }

  /** Makes its process take no notice of SIGTERM. */
  async ignoreSigterm(): Promise<void> {
    this.#order({ kind: "ignoreSigterm" });
    await this.events.first("ignoring", ({ kind }) => kind === "ignoring");
  }

  /** Starts a child that takes no notice of SIGTERM. @returns its pid. */
  async spawnChild(): Promise<number> {
    this.#order({ kind: "spawn" });
    return ((await this.events.first("spawned", ({ kind }) => kind === "spawned")) as { pid: number }).pid;
  }

  /** Writes to its standard output. */
  async print(text: string): Promise<void> {
    const before = this.events.items.length;
    this.#order({ kind: "print", text });
    await this.events.first("printed", ({ kind }) => kind === "printed", before);
  }

  /** Lets go of its connections. */
  close(): void {
    this.#call?.cancel();
    for (const client of [this.#client, ...this.#others]) client?.close();
    this.#control.destroy();
  }

  #order(order: object): void {
    this.#control.write(`${JSON.stringify(order)}\n`);
  }
}

/** Where relay processes report to; give {@link command} to agents of runtime `command`. */
export interface ForeignWorkers {
  /** The worker command of such an agent. */
  readonly command: readonly string[];
  /** Waits for the next launched process. */
  next(): Promise<ForeignWorker>;
  close(): Promise<void>;
}

/** Starts to listen for relay processes. */
export function startForeignWorkers(): ForeignWorkers {
  const directory = mkdtempSync(join(tmpdir(), "tf-"));
  const path = join(directory, "c.sock");
  const all = new StreamLog<ForeignWorker>(() => "worker");
  let taken = 0;
  const server: Server = createServer((control) => {
    all.add(new ForeignWorker(control));
  }).listen(path);
  return {
    command: [process.execPath, RELAY, path],
    async next() {
      const worker = await all.until("launched process", () => all.items[taken]);
      taken += 1;
      return worker;
    },
    async close() {
      for (const worker of all.items) worker.close();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
