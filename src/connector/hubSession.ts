import { assertNever } from "../base/assertNever.js";
import type { Clock } from "../base/clock.js";
import { createDeferred, type Deferred } from "../base/deferred.js";
import type { Logger } from "../base/logger.js";
import type { Random } from "../base/random.js";
import type { DeliverDMRequest, DeliverDMResult, Receipt } from "../gen/talaria/dm/v1/peer_service.js";
import {
  RelayCloseReason,
  type ConnectRequest,
  type ConnectResponse,
  type RelayCancelAnswer,
  type RelayWelcome,
} from "../gen/talaria/dm/v1/relay_service.js";
import type { RosterEntry } from "../gen/talaria/dm/v1/roster.js";
import type { BidiCall } from "../rpc/clients/openBidi.js";
import { RpcError } from "../rpc/rpcError.js";
import { failureOf, toFailure } from "../rpc/wire/failure.js";
import { fromDuration, fromTimestamp } from "../rpc/wire/times.js";
import { attemptKind } from "./attemptKind.js";
import { hubAway } from "./failures.js";
import type { LocalGateway } from "./localGateway.js";
import { pause } from "../base/pause.js";
import type { PlaceFile } from "./placeFile.js";
import type { PublishedRoster } from "./publishedRoster.js";
import { ReceiptPump } from "./receiptPump.js";
import { LOCAL_DELAYS, reconnectDelay } from "./reconnectDelay.js";

type Up = NonNullable<ConnectRequest["frame"]>;

/** What a session works with. */
export interface HubSessionOptions {
  readonly call: BidiCall<ConnectRequest, ConnectResponse>;
  readonly welcome: RelayWelcome;
  readonly local: LocalGateway;
  readonly roster: PublishedRoster;
  readonly place: PlaceFile;
  /** Told that this machine's gateway does not answer. */
  readonly onLocalTrouble: () => void;
  /** Told of receipts of this machine's messages that came down. */
  readonly onReceipts: (receipts: readonly Receipt[]) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

interface Task {
  readonly leaseId: bigint;
  readonly stop: AbortController;
  readonly done: Promise<void>;
  /** Whether an attempt may have been accepted without our knowing. */
  inDoubt: boolean;
}

/** How long deliveries that are on their way may take when the connector stops, milliseconds. */
const STOP_MS = 2_000;
/** Time between two attempts to answer an ask while this machine's gateway is away, milliseconds. */
const ASK_AGAIN_MS = 1_000;

/** One connection to the gateway that relays, from its welcome to its end. */
export class HubSession {
  readonly welcome: RelayWelcome;
  /** Agents of the gateway that relays, as far as they may be seen here. */
  entries: readonly RosterEntry[] = [];
  /** Fingerprint of {@link HubSession.entries}. */
  fingerprint = "";
  readonly #options: HubSessionOptions;
  readonly #over = new AbortController();
  readonly #pump: ReceiptPump;
  readonly #tasks = new Map<string, Task>();
  readonly #delivered: Deferred<readonly DeliverDMResult[]>[] = [];
  readonly #asked = new Map<string, Deferred<Receipt | undefined>[]>();
  readonly #cancelled = new Map<string, Deferred<RelayCancelAnswer>[]>();
  #why: RpcError | undefined;

  constructor(options: HubSessionOptions) {
    this.#options = options;
    this.welcome = options.welcome;
    this.#pump = new ReceiptPump(options.local, options.place);
  }

  /** Aborts when the connection is over. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Runs the connection. @param responses what comes after the welcome @returns why it ended */
  async run(responses: AsyncIterable<ConnectResponse>): Promise<RpcError> {
    const loops = [this.#heartbeats(), this.#rosters(), this.#receipts()].map((loop) =>
      loop.catch((caught: unknown) => {
        if (!this.signal.aborted) this.#options.log.warn({ err: caught }, "a part of the connection has failed");
        this.#options.call.cancel();
      }),
    );
    let error = new RpcError("UNAVAILABLE", { message: "The gateway has ended the connection." });
    try {
      for await (const { frame } of responses) this.#on(frame);
    } catch (caught) {
      error = RpcError.from(caught);
    }
    this.#over.abort(error);
    for (const task of this.#tasks.values()) task.stop.abort(error);
    await Promise.all([...loops, ...[...this.#tasks.values()].map(({ done }) => done)]);
    this.#failWaiting();
    return this.#why ?? error;
  }

  /** Sends messages of this machine's agents up, together. @throws RpcError where it is not known whether they arrived */
  async deliver(items: DeliverDMRequest[]): Promise<readonly DeliverDMResult[]> {
    if (this.signal.aborted) throw hubAway();
    const answer = createDeferred<readonly DeliverDMResult[]>();
    this.#delivered.push(answer);
    await this.#send({ $case: "deliver", value: { items } });
    return answer.promise;
  }

  /** Asks what became of a message that was sent up. */
  async ask(key: string): Promise<Receipt | undefined> {
    if (this.signal.aborted) throw hubAway();
    const answer = createDeferred<Receipt | undefined>();
    this.#asked.set(key, [...(this.#asked.get(key) ?? []), answer]);
    await this.#send({ $case: "ask", value: { key } });
    return answer.promise;
  }

  /** Withdraws a message that was sent up. */
  async cancel(key: string): Promise<RelayCancelAnswer> {
    if (this.signal.aborted) throw hubAway();
    const answer = createDeferred<RelayCancelAnswer>();
    this.#cancelled.set(key, [...(this.#cancelled.get(key) ?? []), answer]);
    await this.#send({ $case: "cancel", value: { key } });
    return answer.promise;
  }

  /** Gives the leases back and closes the connection. */
  async stop(): Promise<void> {
    const { clock, call } = this.#options;
    const stopping = new AbortController();
    const tasks = [...this.#tasks];
    await Promise.race([Promise.all(tasks.map(([, { done }]) => done)), pause(clock, STOP_MS, stopping.signal)]);
    stopping.abort();
    for (const [key, task] of this.#tasks) {
      task.stop.abort();
      // One in doubt is asked for when the connector is back.
      if (!task.inDoubt) await this.#refuse(task.leaseId, key, new RpcError("DRAINING")).catch(() => undefined);
    }
    call.end();
    const late = clock.after(STOP_MS, () => {
      call.cancel();
    });
    await call.ended;
    late();
  }

  #on(frame: ConnectResponse["frame"]): void {
    const { log, onReceipts } = this.#options;
    switch (frame?.$case) {
      case undefined:
      case "welcome":
        return;
      case "lease":
        for (const item of frame.value.items) this.#take(frame.value.leaseId, item);
        return;
      case "receipts":
        onReceipts(frame.value.receipts);
        return;
      case "delivered":
        this.#delivered.shift()?.resolve(frame.value.results);
        return;
      case "ask":
        this.#inBackground(this.#answerAsk(frame.value.key));
        return;
      case "cancel":
        this.#inBackground(this.#answerCancel(frame.value.key));
        return;
      case "receiptsStored":
        this.#pump.confirm(frame.value.keys);
        return;
      case "close": {
        const { reason, message } = frame.value;
        log.info({ reason, message }, "the gateway ends the connection");
        if (reason === RelayCloseReason.RELAY_CLOSE_REASON_REPLACED) this.#why = new RpcError("CONNECTOR_REPLACED");
        return;
      }
      case "roster":
        this.entries = frame.value.entries;
        this.fingerprint = frame.value.fingerprint;
        return;
      case "askAnswer":
        this.#settle(this.#asked, frame.value.key)?.resolve(frame.value.receipt);
        return;
      case "cancelAnswer":
        this.#settle(this.#cancelled, frame.value.key)?.resolve(frame.value);
        return;
      default:
        assertNever(frame, "relay frame");
    }
  }

  #take(leaseId: bigint, item: DeliverDMRequest): void {
    const key = item.requestId;
    if (this.#tasks.has(key)) return;
    const task: Task = { leaseId, stop: new AbortController(), inDoubt: false, done: Promise.resolve() };
    const done = this.#deliverHere(task, item)
      .catch((caught: unknown) => {
        if (!this.signal.aborted)
          this.#options.log.warn({ key, err: caught }, "a leased message could not be answered");
      })
      .finally(() => this.#tasks.delete(key));
    this.#tasks.set(key, Object.assign(task, { done }));
  }

  /** Tries until this machine's gateway has it on disk or has refused it, the message has expired, or the lease is given up. */
  async #deliverHere(task: Task, item: DeliverDMRequest): Promise<void> {
    const { local, clock, random, log } = this.#options;
    const { leaseId, stop } = task;
    const key = item.requestId;
    const expiresAt = fromTimestamp(item.envelope?.expiresAt) ?? 0;
    for (let failures = 1; !stop.signal.aborted && clock.now() <= expiresAt; failures++) {
      try {
        const attempt = local.deliver(item, stop.signal);
        task.inDoubt = true;
        const acceptance = await attempt;
        await this.#send({ $case: "accepted", value: { leaseId, key, acceptance } });
        return;
      } catch (caught) {
        const error = RpcError.from(caught);
        if (this.signal.aborted) return;
        if (attemptKind(error) === "refused") {
          task.inDoubt = false;
          await this.#refuse(leaseId, key, error);
          return;
        }
        log.info({ key, reason: error.reason, failures }, "this machine's gateway has not answered");
        await pause(clock, reconnectDelay(failures, random.fraction(), LOCAL_DELAYS), stop.signal);
      }
    }
  }

  async #refuse(leaseId: bigint, key: string, error: RpcError): Promise<void> {
    await this.#send({ $case: "refused", value: { leaseId, key, failure: toFailure(failureOf(error)) } });
  }

  async #answerAsk(key: string): Promise<void> {
    const { local, clock } = this.#options;
    // What is on its way to the gateway decides first.
    await this.#endTask(key);
    while (!this.signal.aborted) {
      try {
        const receipt = await local.receipt(key, this.signal);
        await this.#send({ $case: "askAnswer", value: { key, receipt } });
        return;
      } catch {
        await pause(clock, ASK_AGAIN_MS, this.signal);
      }
    }
  }

  async #answerCancel(key: string): Promise<void> {
    await this.#endTask(key);
    try {
      const receipt = await this.#options.local.cancel(key, this.signal);
      await this.#send({ $case: "cancelAnswer", value: { key, receipt, failure: undefined } });
    } catch (caught) {
      const error = RpcError.from(caught);
      // Nobody can say: the other side waits no longer than it likes.
      if (attemptKind(error) === "inDoubt") return;
      const failure = toFailure(failureOf(error));
      await this.#send({ $case: "cancelAnswer", value: { key, receipt: undefined, failure } });
    }
  }

  async #endTask(key: string): Promise<void> {
    const task = this.#tasks.get(key);
    task?.stop.abort();
    await task?.done;
  }

  async #heartbeats(): Promise<void> {
    const every = Math.max(1, fromDuration(this.welcome.heartbeat) ?? 1_000);
    while (!this.signal.aborted) {
      const leaseIds = [...new Set([...this.#tasks.values()].map(({ leaseId }) => leaseId))];
      await this.#send({ $case: "heartbeat", value: { leaseIds } });
      await pause(this.#options.clock, every, this.signal);
    }
  }

  async #rosters(): Promise<void> {
    for await (const { entries, fingerprint } of this.#options.roster.follow(this.signal)) {
      await this.#send({ $case: "roster", value: { entries: [...entries], fingerprint } });
    }
  }

  async #receipts(): Promise<void> {
    const { clock, random, log } = this.#options;
    const { info } = this.welcome;
    if (info === undefined) return;
    for (let failures = 1; !this.signal.aborted; failures++) {
      try {
        const send = (receipts: Receipt[]): Promise<void> => {
          failures = 1;
          return this.#send({ $case: "receipts", value: { receipts } });
        };
        await this.#pump.run(info, send, this.signal);
      } catch (caught) {
        if (this.#isOver()) return;
        log.info({ reason: RpcError.from(caught).reason }, "no receipts from this machine's gateway");
        this.#options.onLocalTrouble();
      }
      await pause(clock, reconnectDelay(failures, random.fraction(), LOCAL_DELAYS), this.signal);
    }
  }

  #settle<T>(waiting: Map<string, Deferred<T>[]>, key: string): Deferred<T> | undefined {
    const [first, ...others] = waiting.get(key) ?? [];
    if (others.length === 0) waiting.delete(key);
    else waiting.set(key, others);
    return first;
  }

  /** What was sent up and not answered may have arrived. */
  #failWaiting(): void {
    const error = new RpcError("UNAVAILABLE", { message: "The connection to the gateway that relays has ended." });
    const all = [...this.#delivered, ...[...this.#asked.values()].flat(), ...[...this.#cancelled.values()].flat()];
    for (const waiting of all) {
      waiting.promise.catch(() => undefined);
      waiting.reject(error);
    }
  }

  #isOver(): boolean {
    return this.#over.signal.aborted;
  }

  #inBackground(work: Promise<void>): void {
    work.catch((caught: unknown) => {
      if (!this.signal.aborted) this.#options.log.warn({ err: caught }, "a frame could not be answered");
    });
  }

  async #send(frame: Up): Promise<void> {
    await this.#options.call.send({ frame });
  }
}
