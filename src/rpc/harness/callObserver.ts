import type { Connection } from "../connection.js";
import type { Principal } from "../principal.js";
import type { RpcError } from "../rpcError.js";

/** What an observer is told about a call that begins. */
export interface ObservedCall {
  /** Full name of the method: `/<package>.<Service>/<Method>`; one of those served. */
  readonly method: string;
  /** Who calls, as the listener derived it. */
  readonly principal: Principal;
  /** What the call came in on. */
  readonly connection: Connection;
}

/**
 * Looks on as a listener serves calls. Called for each one that has passed authentication; what it returns is called once, with
 * the error that ended the call, or undefined where it succeeded. It must not throw.
 */
export type CallObserver = (call: ObservedCall) => (error: RpcError | undefined) => void;
