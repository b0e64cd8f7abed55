import { mkdirSync } from "node:fs";

import { resolveBudgets } from "../../src/base/budgets.js";
import { homePaths } from "../../src/base/home.js";
import { silentLogger } from "../../src/base/logger.js";
import { SecretRegistry } from "../../src/base/secretRegistry.js";
import { loadAgents } from "../../src/base/testing/loadAgents.js";
import { createAgentDirectory } from "../../src/gateway/agents/agentDirectory.js";
import { admitTurn } from "../../src/owner/admission/admitTurn.js";
import { createOwner, type Owner, type OwnerOptions } from "../../src/owner/owner.js";
import { SHORT_BUDGETS } from "../kit/homeFiles.js";

/** What a test decides of its owner. */
export interface BareOwnerOptions extends Pick<
  OwnerOptions,
  "store" | "clock" | "random" | "table" | "spawner" | "maxWorkers"
> {
  readonly home: string;
  /** What a worker's process is started with. */
  readonly program: Omit<OwnerOptions["program"], "ownerSocket">;
  /** Told of workers that could not be started or proved. */
  readonly trouble?: (error: unknown) => void;
}

/** An owner on a home without a gateway around it: it keeps no worker ready, offers no tools and carries no messages. */
export function bareOwner({ home, program, trouble = () => undefined, ...options }: BareOwnerOptions): Owner {
  const paths = homePaths(home);
  mkdirSync(paths.outboxesDir, { recursive: true, mode: 0o700 });
  const agents = createAgentDirectory(loadAgents(paths.agentsDir));
  return createOwner({
    ...options,
    paths,
    budgets: resolveBudgets(SHORT_BUDGETS),
    secrets: new SecretRegistry(),
    log: silentLogger(),
    poolSize: 0,
    program: { ...program, ownerSocket: paths.ownerSocket },
    messages: {
      sendFromTurn: () => Promise.reject(new Error("no messages here")),
      getFromTurn: () => Promise.reject(new Error("no messages here")),
    },
    agent: (name) => agents.require(name),
    offer: () => ({ tools: [], rosterInstructions: "", rosterFingerprint: "" }),
    listeners: {
      effects: () => undefined,
      unknownOutcome: () => undefined,
      workerTrouble: (_agent, error) => {
        trouble(error);
      },
      promptWaiting: () => undefined,
    },
  });
}

/** Queues a client's input, of a session or of the agent `echo` in a session of its own, and wakes its session. */
export async function queueInput(
  owner: Owner,
  requestId: string,
  sessionId?: string,
): Promise<{ readonly sessionId: string; readonly inputId: string }> {
  const { turn } = await admitTurn(owner.parts, {
    principal: "client:test",
    requestId,
    target: sessionId === undefined ? { kind: "agent", agent: "echo" } : { kind: "session", sessionId },
    text: "hello",
    headless: false,
    title: "",
    traceparent: "",
    tracestate: "",
  });
  owner.wake([turn.sessionId]);
  return turn;
}
