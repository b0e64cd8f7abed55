import type { Client } from "@grpc/grpc-js";
import type { Clock } from "../base/clock.js";
import { createDeferred, type Deferred } from "../base/deferred.js";
import type { Random } from "../base/random.js";
import type { SecretRegistry } from "../base/secretRegistry.js";
import {
  CloseReason,
  StopCause,
  type Bootstrap,
  type Close,
  type DryRun,
} from "../gen/talaria/owner/v1/owner_service.js";
import { connectClient } from "../rpc/clients/connectClient.js";
import { RpcError } from "../rpc/rpcError.js";
import { AttachSession, type OwnerFrame } from "./attachSession.js";
import { checkBootstrap } from "./checkBootstrap.js";
import { describeProcess } from "./describeProcess.js";
import { EXIT_CODES, type ExitCode } from "./exitCodes.js";
import { createHeartbeat, type Heartbeat } from "./heartbeat.js";
import { tokenBytes } from "./launchToken.js";
import type { Lifeline } from "./lifeline.js";
import { outcomeOfEnd } from "./prompts/outcomeOfEnd.js";
import { reportError } from "./reportError.js";
import { createStopLatch, stopCauseName } from "./stopLatch.js";
import { createTurn, type Turn } from "./turn.js";
import { DEFAULT_WORKER_BUDGETS, HELLO_BUDGET_MS, resolveWorkerBudgets } from "./workerBudgets.js";
import { warmUp } from "./warmUp.js";
import type { WorkerLog } from "./workerLog.js";
import type { WorkerProgram } from "./workerProgram.js";

/** What a worker is given. */
export interface WorkerOptions {
  /** Path of the owner socket. */
  readonly socketPath: string;
  readonly lifeline: Lifeline;
  readonly secrets: SecretRegistry;
  readonly log: WorkerLog;
  readonly clock: Clock;
  readonly random: Random;
  /** What says hello and runs the turn. */
  readonly program: WorkerProgram;
  /** Called before a practice round is answered, once some are done: the code that attaches and talks is compiled then. */
  readonly practised?: () => void;
  /** Time for the connection, milliseconds; default {@link HELLO_BUDGET_MS}. */
  readonly helloMs?: number;
}

/** A worker that is not connected after so many milliseconds has its launch pipe watched meanwhile. */
const UNWATCHED_MS = 1_000;
/** Practice rounds after which a worker has practised. */
const PRACTISED_ROUNDS = 8;
/** How long the owner may take to answer an empty token or to end a stream, milliseconds. */
const LAST_WORD_MS = 5_000;

/** Connects to the owner, attaches, and runs one execution. Settles the exit code, and never rejects. */
export async function runWorker(options: WorkerOptions): Promise<ExitCode> {
  const { socketPath, lifeline, secrets, log, clock, helloMs = HELLO_BUDGET_MS } = options;
  // A connection that takes long must not keep an orphan alive.
  const cancelWatch = clock.after(UNWATCHED_MS, () => {
    lifeline.watch();
  });
  let client: Client;
  try {
    const address = `unix:${socketPath}`;
    client = await connectClient({
      address,
      purpose: "unixStream",
      ownConnection: true,
      timeoutMs: helloMs,
      retry: true,
      // There is nothing to finish yet: a worker without an owner, or without a thread that watches for it, leaves at once.
      signal: lifeline.ownerGone,
      clock,
    });
  } catch (error) {
    log.error("the owner cannot be reached", { socketPath, cause: messageOf(error) });
    return EXIT_CODES.ownerGone;
  } finally {
    cancelWatch();
  }
  const token = await lifeline.readToken();
  const forget = secrets.add(token);
  const worker = new Worker(options, client);
  try {
    return await worker.run(tokenBytes(token));
  } finally {
    worker.dispose();
    forget();
    client.close();
  }
}

/** The worker's one execution as its control loop sees it. */
class Worker {
  readonly #options: WorkerOptions;
  readonly #client: Client;
  readonly #session: AttachSession;
  readonly #heartbeat: Heartbeat;
  readonly #stop = createStopLatch();
  readonly #exit: Deferred<ExitCode> = createDeferred();
  readonly #onUncaught = (error: unknown): void => {
    this.#fail(error);
  };
  #turn: Turn | undefined;
  #closedFor: Close | undefined;
  readonly #ownerLost = new AbortController();
  #failed = false;

  constructor(options: WorkerOptions, client: Client) {
    this.#options = options;
    this.#client = client;
    this.#session = new AttachSession(client);
    this.#heartbeat = createHeartbeat(this.#session, options.clock, DEFAULT_WORKER_BUDGETS.heartbeatMs);
  }

  async run(token: Buffer): Promise<ExitCode> {
    const { lifeline, log, clock, program } = this.#options;
    void this.#session.ended.then((error) => {
      this.#onEnded(error);
    });
    lifeline.ownerGone.addEventListener("abort", () => {
      this.#onOwnerGone("the launch pipe has ended");
    });
    process.on("uncaughtException", this.#onUncaught);
    process.on("unhandledRejection", this.#onUncaught);
    void this.#session.listen(
      (frame) => {
        this.#take(frame);
      },
      (error) => {
        this.#fail(error);
      },
    );
    const hello = describeProcess(token, process.pid, program.build);
    await this.#session.send({ $case: "hello", value: hello }).catch(() => undefined);
    lifeline.watch();
    if (token.length === 0) {
      log.error("no token came on stdin: the launcher does not pass the launch pipe on");
      await Promise.race([this.#session.ended, new Promise<void>((resolve) => clock.after(LAST_WORD_MS, resolve))]);
      return EXIT_CODES.launchPipe;
    }
    if (lifeline.ownerGone.aborted) this.#onOwnerGone("the launch pipe has ended");
    return this.#exit.promise;
  }

  /** Lets go of the stream and of the process. */
  dispose(): void {
    process.off("uncaughtException", this.#onUncaught);
    process.off("unhandledRejection", this.#onUncaught);
    this.#heartbeat.stop();
    this.#session.cancel();
  }

  #take(frame: OwnerFrame): void {
    const { log } = this.#options;
    switch (frame.$case) {
      case "ack":
        break;
      case "dryRun":
        void this.#practise(frame.value);
        break;
      case "bootstrap":
        this.#start(frame.value);
        break;
      case "stop":
        if (this.#stop.stop(frame.value.cause)) log.info("stopped", { cause: stopCauseName(frame.value.cause) });
        break;
      case "finish":
        this.#turn?.finish();
        break;
      case "approvalAnswer": {
        const { promptId, choice, end } = frame.value;
        this.#settle(promptId, outcomeOfEnd(end, choice));
        break;
      }
      case "clarifyAnswer": {
        const { promptId, text, end } = frame.value;
        this.#settle(promptId, outcomeOfEnd(end, text));
        break;
      }
      case "promptRefused":
        this.#settle(frame.value.promptId, { kind: "refused" });
        break;
      case "draining":
        log.info("the gateway is going down");
        break;
      case "close":
        if (this.#session.phase === "finished") break;
        this.#closedFor = frame.value;
        this.#stop.stop(StopCause.STOP_CAUSE_UNSPECIFIED);
        this.#session.end();
        log.info("the owner closes the stream", { reason: frame.value.reason, message: frame.value.message });
        break;
    }
  }

  async #practise({ round, payload, likelyRuntime }: DryRun): Promise<void> {
    // Once is enough; the packages of a runtime are code that the rounds to come compile nothing of.
    if (round === 1 && likelyRuntime !== "") await this.#options.program.preload?.(likelyRuntime);
    await warmUp(this.#client, this.#options.clock, this.#options.random).catch(() => undefined);
    if (round === PRACTISED_ROUNDS) this.#options.practised?.();
    await this.#session.send({ $case: "dryRunDone", value: { round, payload } }).catch(() => undefined);
  }

  #settle(promptId: string, outcome: Parameters<Turn["prompts"]["settle"]>[1]): void {
    if (this.#turn?.prompts.settle(promptId, outcome) === true) return;
    this.#options.log.info("an answer came for a prompt that is not open", { promptId });
  }

  #start(given: Bootstrap): void {
    const { secrets, clock, random, log, lifeline, program } = this.#options;
    try {
      const bootstrap = checkBootstrap(given);
      const budgets = resolveWorkerBudgets(bootstrap.budgets);
      for (const { secret } of bootstrap.credentials) secrets.add(secret);
      for (const form of ["base64", "base64url", "hex"] as const) {
        secrets.add(bootstrap.assignmentSecret.toString(form));
        if (bootstrap.outbox !== undefined) secrets.add(bootstrap.outbox.key.toString(form));
      }
      this.#session.setBound(budgets.outstandingBytes);
      const turn = createTurn({
        bootstrap,
        budgets,
        client: this.#client,
        session: this.#session,
        heartbeat: this.#heartbeat,
        stop: this.#stop,
        onAdopting: () => {
          lifeline.setGrace(budgets.orphanGraceMs);
          this.#heartbeat.start(budgets.heartbeatMs);
        },
        ownerGone: this.#ownerLost.signal,
        runtimes: program.runtimes,
        secrets,
        clock,
        random,
        log,
      });
      this.#turn = turn;
      turn.run().then(
        () => {
          this.#leave();
        },
        (error: unknown) => {
          this.#fail(error);
        },
      );
    } catch (error) {
      this.#fail(error);
    }
  }

  #leave(): void {
    this.#heartbeat.stop();
    this.#session.end();
    const { clock } = this.#options;
    const cancel = clock.after(LAST_WORD_MS, () => {
      this.#exit.resolve(EXIT_CODES.finished);
    });
    void this.#session.ended.then(() => {
      cancel();
      this.#exit.resolve(EXIT_CODES.finished);
    });
  }

  /** The last word on a worker that cannot go on. */
  #fail(caught: unknown): void {
    const { log, secrets, clock } = this.#options;
    const error = reportError(caught, secrets);
    if (this.#ownerLost.signal.aborted || this.#session.phase === "closed") {
      log.error("the turn ended without its owner", { message: error.message });
      this.#exit.resolve(this.#closedFor === undefined ? EXIT_CODES.ownerGone : codeOfClose(this.#closedFor));
      return;
    }
    log.error("the worker cannot go on", { reason: error.reason, message: error.message });
    this.#failed = true;
    this.#stop.stop(StopCause.STOP_CAUSE_UNSPECIFIED);
    this.#session.sendUrgent({ $case: "error", value: error });
    this.#session.end();
    const done = (): void => {
      this.#exit.resolve(EXIT_CODES.internal);
    };
    void this.#session.ended.then(done);
    clock.after(LAST_WORD_MS, done);
  }

  #onEnded(error: RpcError | undefined): void {
    const { log, lifeline } = this.#options;
    const { phase } = this.#session;
    if (phase === "finished" || this.#failed) return;
    if (this.#closedFor !== undefined) {
      this.#exit.resolve(codeOfClose(this.#closedFor));
      return;
    }
    const refused = error !== undefined && !isTransport(error);
    log.error(refused ? "the owner refused the worker" : "the stream to the owner is lost", {
      phase,
      reason: error?.reason,
      message: error?.message,
    });
    if (refused) this.#exit.resolve(EXIT_CODES.refused);
    else {
      lifeline.orphaned();
      this.#onOwnerGone("the stream to the owner is lost");
    }
  }

  #onOwnerGone(why: string): void {
    this.#ownerLost.abort(new RpcError("OWNER_LOST"));
    if (this.#stop.stop(StopCause.STOP_CAUSE_DRAINING)) this.#options.log.warn("the owner is gone", { why });
    // A turn that runs ends first, so that its result can be kept.
    if (this.#turn === undefined) this.#exit.resolve(EXIT_CODES.ownerGone);
  }
}

function codeOfClose({ reason }: Close): ExitCode {
  switch (reason) {
    case CloseReason.CLOSE_REASON_FINISHED:
    case CloseReason.CLOSE_REASON_DRAINING:
    case CloseReason.CLOSE_REASON_STOPPED:
      return EXIT_CODES.released;
    default:
      return EXIT_CODES.refused;
  }
}

/** Whether a stream ended because the owner went away, not because it said no. */
function isTransport(error: RpcError): boolean {
  return error.reason === "UNAVAILABLE" || error.reason === "CANCELLED" || error.reason === "INTERNAL";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
