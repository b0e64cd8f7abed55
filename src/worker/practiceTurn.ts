import type { Client } from "@grpc/grpc-js";
import type { Clock } from "../base/clock.js";
import type { Random } from "../base/random.js";
import { SecretRegistry } from "../base/secretRegistry.js";
import { AttachResponse, StopCause } from "../gen/talaria/owner/v1/owner_service.js";
import type { AttachSession } from "./attachSession.js";
import { checkBootstrap } from "./checkBootstrap.js";
import { createFrameEncoder } from "./frameEncoder.js";
import { createHeartbeat } from "./heartbeat.js";
import { createStopLatch } from "./stopLatch.js";
import { createTurn } from "./turn.js";
import { resolveWorkerBudgets } from "./workerBudgets.js";

/** An assignment that means nothing: its ids have the right form and name nobody. */
const PRACTICE = AttachResponse.encode(
  AttachResponse.fromPartial({
    frame: {
      $case: "bootstrap",
      value: {
        protocol: 1,
        executionId: `exe_${"0".repeat(26)}`,
        sessionId: `ses_${"0".repeat(26)}`,
        agent: "practice",
        generation: 1n,
        epoch: 1n,
        assignmentSecret: Buffer.alloc(32),
        policy: { runtime: "practice" },
        input: { inputId: `inp_${"0".repeat(26)}`, text: "practice" },
      },
    },
  }),
).finish();

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Runs a turn that is stopped before it is ready, and so loads no runtime, from its bootstrap to `finished`, against a stand-in
 * for the owner in this process: what a turn runs besides its runtime is compiled afterwards.
 */
export async function practiceTurn(clock: Clock, random: Random): Promise<void> {
  const { frame } = AttachResponse.decode(PRACTICE);
  if (frame?.$case !== "bootstrap") return;
  const bootstrap = checkBootstrap(frame.value);
  const budgets = resolveWorkerBudgets(bootstrap.budgets);
  const secrets = new SecretRegistry();
  secrets.add(bootstrap.assignmentSecret.toString("base64url"));
  const session = standInSession();
  const heartbeat = createHeartbeat(session, clock, budgets.heartbeatMs);
  const stop = createStopLatch();
  stop.stop(StopCause.STOP_CAUSE_UNSPECIFIED);
  const ownerGone = new AbortController().signal;
  const client = standInClient();
  const log = SILENT;
  try {
    const onAdopting = (): void => {
      heartbeat.start(budgets.heartbeatMs);
    };
    const facts = { bootstrap, budgets, stop, onAdopting, ownerGone };
    const parts = { ...facts, client, session, heartbeat, secrets, clock, random, log };
    const turn = createTurn({ ...parts, runtimes: noRuntime });
    turn.finish();
    await turn.run();
  } finally {
    heartbeat.stop();
  }
}

function noRuntime(): never {
  throw new Error("a turn that is stopped before it is ready loads no runtime");
}

function standInSession(): Pick<AttachSession, "send" | "emit" | "announce" | "adopted" | "sendUrgent"> {
  const encode = createFrameEncoder();
  return {
    send: async (frame) => {
      encode({ sequence: 1n, frame });
    },
    emit: () => Promise.resolve(),
    announce: () => Promise.resolve(),
    adopted: () => undefined,
    sendUrgent: () => undefined,
  };
}

/** A client whose calls are answered at once with an empty message, which every answer may be. */
function standInClient(): Client {
  const makeUnaryRequest = (
    _path: string,
    serialize: (request: unknown) => Buffer,
    _deserialize: unknown,
    request: unknown,
    _metadata: unknown,
    _options: unknown,
    done: (error: null, answer: Buffer) => void,
  ): { readonly cancel: () => void } => {
    serialize(request);
    queueMicrotask(() => {
      done(null, Buffer.alloc(0));
    });
    return { cancel: () => undefined };
  };
  return { makeUnaryRequest } as unknown as Client;
}
