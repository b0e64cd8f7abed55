import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../base/clock.js";
import { newId } from "../base/ids.js";
import { LIMITS } from "../base/limits.js";
import type { Random } from "../base/random.js";
import { Bootstrap } from "../gen/talaria/owner/v1/owner_service.js";
import type { TurnResult } from "../gen/talaria/types/v1/result.js";
import { toDuration } from "../rpc/wire/times.js";
import type { Attachment } from "./attachment.js";
import { CheckFailure, need } from "./checkFailure.js";
import { checkResult } from "./resultRules.js";
import { SignalBoard } from "./signalBoard.js";
import { TestOwner } from "./testOwner.js";
import { WorkerProcess, type WorkerExit } from "./workerProcess.js";

/** What a trial works with. */
export interface TrialSettings {
  /** The worker under test: program and arguments. */
  readonly command: readonly [string, ...string[]];
  /** Where it is started. */
  readonly directory: string;
  /** Its environment, besides the owner socket's path. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly random: Random;
  /** Longest wait for one thing that the worker has to do, milliseconds. */
  readonly waitMs: number;
}

/** Changes to the assignment that a check gives. */
export type BootstrapChanges = Parameters<typeof Bootstrap.fromPartial>[0];

/** Bounds of a trial's assignment, milliseconds: short, so that the end of each can be seen. */
export const TRIAL_BUDGETS = { heartbeat: 500, orphanGrace: 2_000, finishWait: 10_000, storeCall: 5_000 } as const;

/** Between two looks at a group's processes, milliseconds: they tell nobody of their end, nor of what they use. */
const LOOK_AGAIN_MS = 10;
/** Processor time, milliseconds, that a turn's beginning does not use and a loop that spins uses at once. */
const SPINS_AFTER_MS = 300;

/** One check's worker with the owner that launched it. Everything of it is gone after {@link dispose}. */
export class Trial {
  readonly settings: TrialSettings;
  readonly board: SignalBoard;
  readonly owner: TestOwner;
  /** Folder of its own, for its socket, its workspace and an outbox. */
  readonly directory: string;
  #worker: WorkerProcess | undefined;
  #bootstrap: Bootstrap | undefined;

  constructor(settings: TrialSettings) {
    this.settings = settings;
    this.board = new SignalBoard(settings.clock, settings.waitMs);
    this.directory = realpathSync(mkdtempSync(join(tmpdir(), "tc-")));
    this.owner = new TestOwner(this.directory, this.board);
  }

  /** The worker. @throws Error before {@link launch}. */
  get worker(): WorkerProcess {
    if (this.#worker === undefined) throw new Error("nothing was launched");
    return this.#worker;
  }

  /** The worker's stream. @throws CheckFailure before it has attached. */
  get attachment(): Attachment {
    const { attachment } = this.owner;
    need(attachment !== undefined, "the worker has not attached");
    return attachment;
  }

  /** The assignment. @throws Error before {@link bootstrap}. */
  get assignment(): Bootstrap {
    if (this.#bootstrap === undefined) throw new Error("nothing was assigned");
    return this.#bootstrap;
  }

  /** Launches the worker as a gateway's owner does. @param pipe false closes the launch pipe before the token. */
  async launch(pipe = true): Promise<void> {
    const { command, env, directory, clock, random } = this.settings;
    await this.owner.start(clock);
    mkdirSync(join(this.directory, "workspace"));
    const environment = { ...env, TALARIA_OWNER_SOCKET: this.owner.socketPath };
    const worker = new WorkerProcess(
      { command, env: environment, directory, pipe },
      { random, clock, board: this.board },
    );
    this.#worker = worker;
    this.board.hopeless = () => worker.gone && (this.owner.attachment?.over ?? true);
  }

  /** Launches it and waits until it has said hello. */
  async attached(): Promise<Attachment> {
    if (this.#worker === undefined) await this.launch();
    await this.board.until(
      "Attach with hello",
      () => this.owner.attachment?.frames[0],
      () => this.state,
    );
    return this.attachment;
  }

  /** Gives it an assignment. */
  bootstrap(text: string, changes: BootstrapChanges = {}): Bootstrap {
    const { random } = this.settings;
    const { budgets, ...rest } = changes;
    const bootstrap = Bootstrap.fromPartial({
      protocol: 1,
      executionId: newId("exe", random),
      sessionId: newId("ses", random),
      sessionTitle: "Conformance",
      agent: "conformance",
      generation: 3n,
      epoch: 5n,
      assignmentSecret: random.bytes(LIMITS.secretBytes),
      policy: { runtime: "echo" },
      input: { inputId: newId("inp", random), text },
      workspace: join(this.directory, "workspace"),
      budgets: {
        heartbeat: toDuration(TRIAL_BUDGETS.heartbeat),
        orphanGrace: toDuration(TRIAL_BUDGETS.orphanGrace),
        finishWait: toDuration(TRIAL_BUDGETS.finishWait),
        storeCall: toDuration(TRIAL_BUDGETS.storeCall),
        ...budgets,
      },
      ...rest,
    });
    this.#bootstrap = bootstrap;
    this.attachment.send({ $case: "bootstrap", value: bootstrap });
    return bootstrap;
  }

  /** Brings a worker to a running turn with this input. */
  async running(text: string, changes: BootstrapChanges = {}): Promise<Attachment> {
    const attachment = await this.attached();
    this.bootstrap(text, changes);
    await attachment.next("ready");
    return attachment;
  }

  /** Waits until a flood stands for want of acks: heartbeats come, and no event between them. */
  async standing(): Promise<void> {
    const { attachment } = this;
    const stands = (): true | undefined => {
      const last = attachment.frames.slice(-3).map(({ frame }) => frame?.$case);
      return attachment.events.length > 0 && last.every((kind) => kind === "heartbeat") ? true : undefined;
    };
    await this.board.until("flood that stands, with heartbeats", stands, () => attachment.state);
  }

  /** Waits for the receipt and holds it to its rules. */
  async result(): Promise<TurnResult> {
    const { result } = await this.attachment.next("result");
    need(result !== undefined, "the result frame holds no receipt");
    checkResult(result, this.assignment.sessionId);
    return result;
  }

  /** Answers the receipt and waits for the worker's orderly end. */
  async finish(): Promise<void> {
    const { attachment, owner, board } = this;
    attachment.send({ $case: "finish", value: {} });
    await attachment.next("finished");
    need(owner.finishes.length > 0, "finished was sent before FinishExecution had been called");
    const last = owner.persists.reduce((most, { request }) => (request.sequence > most ? request.sequence : most), 0n);
    const said = owner.finishes.at(-1)?.request.lastSequence;
    need(said === last, `FinishExecution says the last sequence ${String(said)}, and it was ${String(last)}`);
    await board.until(
      "end of the worker's half",
      () => (attachment.over ? true : undefined),
      () => this.state,
    );
    attachment.end();
    const exit = await this.exited();
    need(exit.code === 0, `it ended with ${describeExit(exit)}, and a finished turn ends with 0`);
    await this.groupGone();
  }

  /** A whole turn. @returns its receipt. */
  async turn(text: string, changes: BootstrapChanges = {}): Promise<TurnResult> {
    await this.running(text, changes);
    const result = await this.result();
    await this.finish();
    return result;
  }

  /** Waits for the end of the process. */
  exited(ms?: number): Promise<WorkerExit> {
    return this.board.until(
      "end of the process",
      () => this.worker.exit,
      () => this.state,
      ms,
    );
  }

  /** Waits until it has ended otherwise than in order. @returns how. */
  async failed(ms?: number): Promise<string> {
    const exit = await this.exited(ms);
    need(exit.code !== 0, "it ended with 0, which says that a turn is finished");
    return describeExit(exit);
  }

  /** Waits until no process of its group is left. */
  async groupGone(ms = this.settings.waitMs): Promise<void> {
    const left = (): number => this.worker.group.length;
    await this.#look(
      () => left() === 0,
      () => `${String(left())} processes of its group are left`,
      ms,
    );
  }

  /** Waits until it spins, which a worker whose loop is busy cannot say itself. */
  async spinning(): Promise<void> {
    const before = this.worker.processorMs;
    const used = (): number => this.worker.processorMs - before;
    await this.#look(
      () => used() >= SPINS_AFTER_MS,
      () => `it does not spin: ${String(used())} ms of processor time`,
    );
  }

  /** Looks until it holds, where nobody reports a change. @throws CheckFailure with `otherwise()` after `ms` milliseconds. */
  async #look(holds: () => boolean, otherwise: () => string, ms = this.settings.waitMs): Promise<void> {
    const { clock } = this.settings;
    const deadline = clock.monotonic() + ms;
    while (!holds()) {
      if (clock.monotonic() >= deadline) throw new CheckFailure(otherwise());
      await new Promise<void>((resolve) => clock.after(LOOK_AGAIN_MS, resolve));
    }
  }

  /** What can be said of where it stands. */
  get state(): string {
    const { problem, exit, log } = this.worker;
    if (problem !== undefined) return `it could not be started: ${problem.message}`;
    const ended = exit === undefined ? "" : `; it ended with ${describeExit(exit)}: ${log.slice(-400).trim()}`;
    return `${this.owner.attachment?.state ?? "it has not attached"}${ended}`;
  }

  /** Ends whatever is left. */
  async dispose(): Promise<void> {
    this.#worker?.dispose();
    await this.owner.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function describeExit({ code, signal }: WorkerExit): string {
  return signal === null ? `code ${String(code)}` : signal;
}
