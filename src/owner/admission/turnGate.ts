import type { RpcError } from "../../rpc/rpcError.js";

/** Says which agents begin no turn for now. What runs goes on, what is queued waits. */
export interface TurnGate {
  /** Why an agent begins no turn; undefined where it may. Clients' inputs for it are refused with that. */
  readonly closedFor: (agent: string) => RpcError | undefined;
  /** Told that nothing of an agent's turn is left; what it has used is in the store. */
  readonly turnEnded: (agent: string) => void;
}

/** Lets every agent through. */
export const OPEN_GATE: TurnGate = Object.freeze({ closedFor: () => undefined, turnEnded: () => undefined });
