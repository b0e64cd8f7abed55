import type { Metadata } from "@grpc/grpc-js";
import { newId } from "../../base/ids.js";
import type { Logger } from "../../base/logger.js";
import { callerOf } from "../authentication.js";
import { describePrincipal } from "../principal.js";
import { RpcError } from "../rpcError.js";
import { toStatus, type CallStatus } from "../status.js";
import { TRACEPARENT } from "../traceContext.js";
import type { CallContext } from "./callContext.js";
import { CallSpan } from "./callSpan.js";
import type { HarnessRuntime } from "./harnessRuntime.js";

/** The parts of a grpc-js server call that every kind of call has. */
export interface ServerCall {
  readonly metadata: Metadata;
  readonly cancelled: boolean;
  getDeadline(): number | Date;
  on(event: "cancelled", run: () => void): unknown;
}

/** How a kind of call is opened. */
export interface ActiveCallOptions {
  /** Whether the call gets the default deadline where it brings none. */
  readonly defaultDeadline: boolean;
  /** Sends the terminal status; called at most once, and not if the client has gone. */
  readonly respond: (status: CallStatus) => void;
}

/** The life of one call: from its headers to its one terminal status, whichever of handler, client and clock is first. */
export class ActiveCall {
  /** What the handler is told. */
  readonly context: CallContext;
  readonly #call: ServerCall;
  readonly #runtime: HarnessRuntime;
  readonly #options: ActiveCallOptions;
  readonly #startedAt: number;
  readonly #span: CallSpan;
  readonly #observed: ((error: RpcError | undefined) => void) | undefined;
  readonly #abortActions: ((error: RpcError) => void)[] = [];
  #cancelDeadline: () => void = () => undefined;
  #controller: AbortController | undefined;
  #aborted: RpcError | undefined;
  #settled = false;

  constructor(runtime: HarnessRuntime, method: string, call: ServerCall, options: ActiveCallOptions) {
    this.#call = call;
    this.#runtime = runtime;
    this.#options = options;
    this.#startedAt = runtime.clock.monotonic();
    const deadlineMs = this.#armDeadline();
    const { principal, connection } = callerOf(call.metadata);
    const { tracer, clock } = runtime;
    const header = (): string | undefined => firstEntry(call.metadata, TRACEPARENT);
    this.#span = new CallSpan({ tracer, clock, method, principal, header, startedAt: this.#startedAt });
    this.context = createContext(runtime, method, call, this.#span, () => this.#signal(), deadlineMs);
    this.#observed = runtime.observe?.({ method, principal, connection });
    call.on("cancelled", () => {
      // grpc-js emits this after a success as well.
      if (this.#settled) return;
      const late = deadlineMs !== undefined && runtime.clock.now() >= deadlineMs;
      this.#abort(new RpcError(late ? "DEADLINE_EXCEEDED" : "CANCELLED"));
    });
  }

  /** Runs `action` when the call ends otherwise than by its handler; at once if it has. */
  onAbort(action: (error: RpcError) => void): void {
    if (this.#aborted === undefined) this.#abortActions.push(action);
    else action(this.#aborted);
  }

  /** Claims success for the handler. @returns false where the call has ended already. */
  succeed(): boolean {
    if (!this.#settle()) return false;
    this.#report(undefined);
    return true;
  }

  /** Ends the call with what the handler threw; does nothing but log where the call has ended already. */
  fail(caught: unknown): void {
    const error = RpcError.from(caught);
    if (!this.#settle()) {
      if (error.reason === "INTERNAL")
        this.context.log.warn({ err: caught }, "handler failed after its call had ended");
      return;
    }
    this.#report(error);
    if (!this.#call.cancelled) this.#options.respond(toStatus(error));
  }

  #abort(error: RpcError): void {
    if (this.#settled) return;
    // First, so that whatever the signal sets off finds the call settled.
    this.fail(error);
    this.#aborted = error;
    this.#controller?.abort(error);
    for (const action of this.#abortActions) action(error);
  }

  #signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
    }
    return this.#controller.signal;
  }

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#cancelDeadline();
    return true;
  }

  #armDeadline(): number | undefined {
    const given = Number(this.#call.getDeadline());
    if (Number.isFinite(given)) return given;
    if (!this.#options.defaultDeadline) return undefined;
    const { clock, defaultDeadlineMs } = this.#runtime;
    this.#cancelDeadline = clock.after(defaultDeadlineMs, () => {
      this.#abort(new RpcError("DEADLINE_EXCEEDED"));
    });
    return clock.now() + defaultDeadlineMs;
  }

  #report(error: RpcError | undefined): void {
    this.#observed?.(error);
    this.#span.end(error);
    const internal = error?.reason === "INTERNAL";
    // A child logger costs more than the rest of a small call.
    if (!internal && !this.#runtime.log.isLevelEnabled("debug")) return;
    const { log } = this.context;
    const ms = Math.round(this.#runtime.clock.monotonic() - this.#startedAt);
    if (error === undefined) log.debug({ ms }, "call ended");
    else if (internal) {
      log.error(
        { ms, reason: error.reason, incident: error.details.metadata?.["incident"], err: error.cause ?? error },
        "call failed",
      );
    } else log.debug({ ms, reason: error.reason, err: error.cause }, "call ended");
  }
}

function createContext(
  runtime: HarnessRuntime,
  method: string,
  call: ServerCall,
  span: CallSpan,
  signalOf: () => AbortSignal,
  deadlineMs: number | undefined,
): CallContext {
  const { principal, connection } = callerOf(call.metadata);
  // Most small calls use none of these, and together they cost more than such a call's handler.
  let requestId: string | undefined;
  let log: Logger | undefined;
  const requestIdOf = (): string => (requestId ??= newId("req", runtime.random));
  return {
    method,
    get requestId() {
      return requestIdOf();
    },
    principal,
    connection,
    get signal() {
      return signalOf();
    },
    draining: runtime.draining,
    deadlineMs,
    get log() {
      log ??= runtime.log.child({ method, requestId: requestIdOf(), principal: describePrincipal(principal) });
      return log;
    },
    get trace() {
      return span.trace;
    },
    joinTrace: (traceparent) => span.join(traceparent),
    metadata: (name) => firstEntry(call.metadata, name),
  };
}

function firstEntry(metadata: Metadata, name: string): string | undefined {
  const [value] = metadata.get(name);
  return typeof value === "string" ? value : undefined;
}
