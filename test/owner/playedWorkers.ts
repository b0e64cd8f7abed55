import { PassThrough } from "node:stream";

import { createDeferred } from "../../src/base/deferred.js";
import type { ProcessFacts } from "../../src/base/processIdentity.js";
import { type ProcessTable, systemProcessTable } from "../../src/base/processTable.js";
import type { AttachRequest, AttachResponse, Bootstrap } from "../../src/gen/talaria/owner/v1/owner_service.js";
import { WorkerLink } from "../../src/owner/attach/workerLink.js";
import type { ProcessExit, SpawnedProcess, Spawner } from "../../src/owner/launch/spawner.js";
import type { Owner } from "../../src/owner/owner.js";
import { adoptionDigest } from "../../src/owner/turn/adoptionDigest.js";
import type { Connection } from "../../src/rpc/connection.js";
import type { BidiStream } from "../../src/rpc/harness/methods.js";
import { RpcError } from "../../src/rpc/rpcError.js";
import type { Store } from "../../src/store/store.js";
import { adoptExecution } from "../../src/store/turns/adoptExecution.js";

type WorkerFrame = NonNullable<AttachRequest["frame"]>;

/** Above the numbers that a system gives to processes. */
const FIRST_PID = 5_000_000;

/** How far a played worker has come. */
export type PlayedStage = "spawned" | "attached" | "adopted" | "running" | "given" | "dead";

/** A worker without a process: what it does is decided step by step. */
export class PlayedWorker {
  readonly pid: number;
  readonly spawned: SpawnedProcess;
  stage: PlayedStage = "spawned";
  /** Whether SIGTERM is ignored. */
  deaf = false;
  /** Prompts that it has asked and that have not ended. */
  readonly asked: string[] = [];
  /** Whether it was told to stop. */
  stopped = false;
  bootstrap: Bootstrap | undefined;
  readonly #exited = createDeferred<ProcessExit>();
  #link: WorkerLink | undefined;
  #sequence = 1n;
  #prompts = 0;

  constructor(pid: number) {
    this.pid = pid;
    const stdin = new PassThrough();
    // As a real one: the end of the launch pipe means that nobody owns it any more.
    stdin.on("close", () => {
      this.die({ code: 1, signal: null });
    });
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    this.spawned = { pid, stdin, stdout, stderr, exited: this.#exited.promise };
  }

  get facts(): ProcessFacts {
    const [processGroup, session] = [this.pid, this.pid];
    return { pid: this.pid, birthTicks: 7n, parentPid: process.pid, state: "S", processGroup, session, uid: 0 };
  }

  /** Comes to a stage from the one before, unless it has died meanwhile. */
  come(from: PlayedStage, to: PlayedStage): void {
    if (this.stage === from) this.stage = to;
  }

  /** Ends its process. */
  die(exit: ProcessExit): void {
    if (this.stage === "dead") return;
    this.stage = "dead";
    this.#exited.resolve(exit);
    this.#link?.end(new RpcError("UNAVAILABLE"));
  }

  /** Attaches, as a worker does that was believed. */
  attach(owner: Owner): void {
    const launch = owner.parts.launcher.live.find(({ process: launched }) => launched.pid === this.pid);
    if (launch === undefined) return;
    const identity = { pid: this.pid, birthTicks: this.facts.birthTicks };
    const evidence = {
      process: identity,
      launched: identity,
      bootId: "played",
      factors: ["token" as const],
      launcherHops: 0,
      uid: undefined,
      build: { name: "played", version: "1", runtime: "test" },
      protocol: { min: 1, max: 1 },
      provedAt: owner.parts.clock.now(),
    };
    const stream = {
      sendNow: ({ frame }: AttachResponse): boolean => {
        if (frame?.$case === "bootstrap") this.bootstrap = frame.value;
        if (frame?.$case === "stop") this.stopped = true;
        if (frame?.$case === "clarifyAnswer") this.asked.splice(this.asked.indexOf(frame.value.promptId), 1);
        if (frame?.$case === "promptRefused") this.asked.splice(this.asked.indexOf(frame.value.promptId), 1);
        return true;
      },
    };
    const link = new WorkerLink(
      launch,
      evidence,
      {} as Connection,
      stream as unknown as BidiStream<AttachRequest, AttachResponse>,
    );
    this.#link = link;
    this.stage = "attached";
    void link.closeRequested.then(() => {
      this.die({ code: 0, signal: null });
    });
    launch.attach(link);
  }

  /** Adopts its assignment, if it has one. */
  async adopt(owner: Owner, store: Store): Promise<void> {
    if (this.bootstrap === undefined) return;
    const { executionId, epoch, generation, assignmentSecret } = this.bootstrap;
    const turn = owner.turn(executionId);
    if (turn === undefined) return;
    const fence = { executionId, epoch: Number(epoch), generation: Number(generation) };
    const digest = adoptionDigest(assignmentSecret, fence, { pid: this.pid, birthTicks: this.facts.birthTicks });
    const result = await store.writer.execute(adoptExecution, { fence, epoch: store.epoch, adoptionDigest: digest });
    if (result.kind !== "adopted") return;
    try {
      turn.adopted();
      this.stage = "adopted";
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  }

  /** Sends a frame; one that is refused ends the stream, as it does over the wire. */
  async send(frame: WorkerFrame, sequence = this.#sequence + 1n): Promise<void> {
    this.#sequence = sequence;
    try {
      await this.#link?.receive({ sequence, frame }, 100);
    } catch (error) {
      this.#link?.close(0, RpcError.from(error));
      this.#link?.end(RpcError.from(error));
    }
  }

  /** Asks a person. */
  async ask(): Promise<void> {
    this.#prompts += 1;
    const promptId = `p${String(this.#prompts)}`;
    this.asked.push(promptId);
    const question = { questionId: "q", text: "?", choices: [], multiSelect: false };
    await this.send({ $case: "clarify", value: { promptId, request: { question, position: 1, total: 1 } } });
  }
}

/** Processes that exist only for an owner under test: its spawner and its process table. */
export class PlayedWorkers {
  readonly all: PlayedWorker[] = [];
  readonly spawn: Spawner = () => {
    const worker = new PlayedWorker(FIRST_PID + this.all.length);
    this.all.push(worker);
    return Promise.resolve(worker.spawned);
  };
  readonly table: ProcessTable = {
    read: (pid) => (pid < FIRST_PID ? systemProcessTable.read(pid) : this.#living(pid)?.facts),
    list: () => this.all.filter(({ stage }) => stage !== "dead").map(({ facts }) => facts),
    bootId: () => "played",
  };

  /** Takes signals to their groups; to be put in the place of `process.kill`. */
  readonly kill = (pid: number, signal?: string | number): true => {
    const worker = this.#living(-pid);
    if (worker === undefined) throw Object.assign(new Error("no such process"), { code: "ESRCH" });
    if (signal === "SIGKILL" || !worker.deaf) worker.die({ code: null, signal: signal as NodeJS.Signals });
    return true;
  };

  #living(pid: number): PlayedWorker | undefined {
    const worker = this.all[pid - FIRST_PID];
    return worker?.stage === "dead" ? undefined : worker;
  }
}
