import type { Budgets } from "../../base/budgets.js";
import type { Clock } from "../../base/clock.js";
import type { AgentConfig } from "../../base/config/agentConfig.js";
import type { HomePaths } from "../../base/home.js";
import type { Logger } from "../../base/logger.js";
import type { Random } from "../../base/random.js";
import type { SecretRegistry } from "../../base/secretRegistry.js";
import type { ToolDefinition } from "../../gen/talaria/types/v1/policy.js";
import type { Tracer } from "../../rpc/tracing/tracer.js";
import type { DeliveryEffects } from "../../store/deliveries/deliveryEffects.js";
import type { Store } from "../../store/store.js";
import type { Telling } from "../../store/turns/claimTelling.js";
import type { TurnGate } from "../admission/turnGate.js";
import type { Launcher } from "../launch/launcher.js";
import type { WorkerPool } from "../pool/workerPool.js";
import type { SessionHub } from "../watch/sessionHub.js";

/** What an agent is offered in a turn besides its runtime's own tools. */
export interface TurnOffer {
  readonly tools: readonly ToolDefinition[];
  /** Section for the agent's instructions; empty for none. */
  readonly rosterInstructions: string;
  /** Fingerprint of that section; empty for none. */
  readonly rosterFingerprint: string;
}

/** What tells the rest of the gateway of turns. */
export interface TurnListeners {
  /** Deliveries that changed and sessions that got inputs, after their commit. */
  readonly effects: (effects: DeliveryEffects) => void;
  /**
   * A turn's outcome is unknown. `claim` is called right before it is told in one of the ways; false where that was done before. May be
   * called again at the next start, for what was not told.
   */
  readonly unknownOutcome: (inputId: string, claim: (telling: Telling) => Promise<boolean>) => Promise<void> | void;
  /** A worker could not be started or proved. */
  readonly workerTrouble: (agent: string, error: unknown) => void;
  /** A prompt waits for a person. */
  readonly promptWaiting: (promptId: string, sessionId: string) => void;
}

/** What every turn works with. */
export interface TurnParts {
  readonly store: Store;
  readonly paths: HomePaths;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly random: Random;
  readonly secrets: SecretRegistry;
  readonly log: Logger;
  /** Takes the spans of turns. */
  readonly tracer: Tracer;
  readonly hub: SessionHub;
  readonly launcher: Launcher;
  readonly pool: WorkerPool;
  readonly listeners: TurnListeners;
  /** An agent's configuration as it is on disk. @throws RpcError UNKNOWN_AGENT, AGENT_INVALID. */
  readonly agent: (name: string) => AgentConfig;
  /** Which agents begin no turn for now. */
  readonly gate: TurnGate;
  /** What an agent is offered in a turn of a session. */
  readonly offer: (agent: string, botChat: boolean) => TurnOffer;
}
