import type { Reason } from "../../rpc/reasons.js";
import type { TurnContext } from "../turnContext.js";

/** Why a turn failed, where that is no fault of the worker's. */
export interface RuntimeFailure {
  /** Failure class. */
  readonly reason: Reason;
  /** What happened, for people. */
  readonly message: string;
  /** Whether the same input may succeed later; undefined where that is not known. */
  readonly retryable?: boolean;
  /** When a limit resets, milliseconds since the Unix epoch; undefined where that is not known. */
  readonly resetsAtMs?: number;
}

/** A provider's refusal that only the account's owner can lift. */
export interface RuntimeBilling {
  readonly provider: string;
  readonly providerLabel: string;
  readonly model: string;
  /** https only; anything else is left out. */
  readonly billingUrl: string;
  readonly isOwnAccount: boolean;
  readonly message: string;
  readonly unverified: boolean;
}

/** What a runtime answers. Numbers and texts may be over their bounds: the receipt cuts them. */
export interface RuntimeAnswer {
  /** The whole answer. */
  readonly text: string;
  /** Whether the text is a part of what was intended. */
  readonly partial?: boolean;
  /** Set where the turn failed. */
  readonly failure?: RuntimeFailure;
  /** Whether the limit on model calls ended the turn. */
  readonly modelCallLimit?: boolean;
  /** Model that answered, as configured. */
  readonly model?: string;
  /** Provider that answered. */
  readonly provider?: string;
  /** Model asked for. */
  readonly requestedModel?: string;
  /** Model that the provider says it served. */
  readonly servedModel?: string;
  /** Provider's service tier. */
  readonly serviceTier?: string;
  /** The provider's note about a usage window. */
  readonly usageWindowMessage?: string;
  /** A provider's billing refusal. */
  readonly billing?: RuntimeBilling;
  /** A provider's note about its free allowance. */
  readonly freeTier?: { readonly kind: string; readonly message: string };
}

/** Something that can run a turn. */
export interface Runtime {
  /** Model that it will use, for the viewers; empty for none. */
  readonly model: string;
  /**
   * Runs the turn to its end. Ends soon after `context.signal` aborts, with what there is or by throwing the signal's reason.
   * Whatever else it throws ends the worker.
   */
  run(context: TurnContext): Promise<RuntimeAnswer>;
  /**
   * What is left to do once the turn has come to its answer, such as naming the session; runs before the result is sent, also for
   * a failed turn, within the turn-final budget, after which the signal aborts. What it throws fails no turn.
   */
  finalWork?(context: TurnContext, answer: RuntimeAnswer, signal: AbortSignal): Promise<void>;
}

/** Builds a runtime from the frozen policy. @throws RpcError RUNTIME_CONFIG. */
export type RuntimeLoader = (context: TurnContext) => Promise<Runtime>;
