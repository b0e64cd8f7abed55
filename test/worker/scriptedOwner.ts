import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../../src/base/logger.js";
import { newId } from "../../src/base/ids.js";
import { systemRandom } from "../../src/base/random.js";
import { createDeferred } from "../../src/base/deferred.js";
import type {
  AdoptRequest,
  FinishExecutionRequest,
  PersistRequest,
  RunChildRequest,
} from "../../src/gen/talaria/owner/v1/execution_store_service.js";
import {
  ExecutionStoreServiceService,
  ReadConversationResponse,
  RunChildResponse,
  SendDirectMessageResponse,
  GetDeliveryResponse,
} from "../../src/gen/talaria/owner/v1/execution_store_service.js";
import { AttachRequest, type AttachResponse } from "../../src/gen/talaria/owner/v1/owner_service.js";
import { Bootstrap, OwnerServiceService } from "../../src/gen/talaria/owner/v1/owner_service.js";
import { implementService } from "../../src/rpc/harness/implementService.js";
import { defineBidi, defineServerStream, defineUnary } from "../../src/rpc/harness/methods.js";
import { startListener } from "../../src/rpc/listener.js";
import { RpcError } from "../../src/rpc/rpcError.js";
import type { OwnerFrame } from "../../src/worker/attachSession.js";
import { FrameLog } from "./frameLog.js";

type PartialBootstrap = Parameters<typeof Bootstrap.fromPartial>[0];

/** One worker's Attach stream, with the test in the owner's place. */
export class Attachment extends FrameLog {
  /** Sends a control frame. */
  send: (frame: OwnerFrame | undefined) => void = () => undefined;
  /** Ends the stream, with an error or without. */
  end: (error?: RpcError) => void = () => undefined;
  /** Whether each frame is acknowledged at once, or only after 256 KiB and for each heartbeat, as the gateway does. */
  acknowledges: boolean | "sparingly" = true;
  /** Whether the worker's half or the stream has ended. */
  ended = false;

  /** Sends the bootstrap of an echo turn. */
  bootstrap(text: string, changes: PartialBootstrap = {}): Bootstrap {
    const bootstrap = Bootstrap.fromPartial({
      protocol: 1,
      executionId: newId("exe", systemRandom),
      sessionId: newId("ses", systemRandom),
      sessionTitle: "Test",
      agent: "echo",
      generation: 1n,
      epoch: 1n,
      assignmentSecret: systemRandom.bytes(32),
      policy: { runtime: "echo" },
      input: { inputId: newId("inp", systemRandom), text },
      ...changes,
    });
    this.send({ $case: "bootstrap", value: bootstrap });
    return bootstrap;
  }
}

/** What the store was asked, in order. */
export interface StoreCalls {
  readonly adopts: AdoptRequest[];
  readonly persists: PersistRequest[];
  readonly finishes: FinishExecutionRequest[];
}

/** A real server on a real socket whose words the test chooses. */
export interface ScriptedOwner {
  readonly socketPath: string;
  readonly directory: string;
  readonly store: StoreCalls;
  /** Runs before a store write is answered; may throw. */
  onPersist: (request: PersistRequest) => void;
  /** Waits for the next worker to attach. */
  attached(): Promise<Attachment>;
  close(): Promise<void>;
}

/** Starts the server in a folder of its own. */
export async function startScriptedOwner(): Promise<ScriptedOwner> {
  const directory = mkdtempSync(join(tmpdir(), "tal-w-"));
  const socketPath = join(directory, "o.sock");
  const waiting: Attachment[] = [];
  const arrivals = new FrameLog();
  const store: StoreCalls = { adopts: [], persists: [], finishes: [] };
  const owner: ScriptedOwner = {
    socketPath,
    directory,
    store,
    onPersist: () => undefined,
    attached: () =>
      arrivals.until("attached worker", () => {
        const value = waiting.shift();
        return value === undefined ? undefined : { value };
      }),
    async close() {
      await listener.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  const attach = defineBidi<AttachRequest, AttachResponse>({
    async handle(stream) {
      const attachment = new Attachment();
      const over = createDeferred<void>();
      attachment.send = (frame) => void stream.sendNow({ frame });
      attachment.end = (error) => {
        if (error === undefined) over.resolve();
        else over.reject(error);
      };
      waiting.push(attachment);
      arrivals.wake();
      const read = async (): Promise<void> => {
        let unacknowledged = 0;
        try {
          for await (const request of stream.requests) {
            attachment.add(request);
            unacknowledged += AttachRequest.encode(request).finish().length;
            const due = request.frame?.$case === "heartbeat" || unacknowledged >= 262_144;
            if (attachment.acknowledges === true || (attachment.acknowledges === "sparingly" && due)) {
              unacknowledged = 0;
              attachment.send({ $case: "ack", value: { sequence: request.sequence } });
            }
          }
        } catch {
          // The worker has gone.
        }
        attachment.ended = true;
        attachment.wake();
      };
      await Promise.race([read(), over.promise]);
      await over.promise.catch((error: unknown) => {
        throw error;
      });
    },
  });
  const listener = await startListener({
    name: "owner",
    transport: { kind: "unix", path: socketPath },
    authenticate: ({ connection }) => ({ kind: "worker", connectionId: connection.id }),
    log: silentLogger(),
    services: [
      implementService(OwnerServiceService, { attach }),
      implementService(ExecutionStoreServiceService, {
        adopt: defineUnary({
          async handle(request: AdoptRequest) {
            store.adopts.push(request);
            return { fence: request.fence, lastSequence: 0n, sessionRevision: 1n };
          },
        }),
        readConversation: defineServerStream({
          async *handle() {
            yield ReadConversationResponse.fromPartial({ messages: [{ row: 1n, role: 1, text: "earlier" }] });
          },
        }),
        persist: defineUnary({
          async handle(request: PersistRequest) {
            owner.onPersist(request);
            store.persists.push(request);
            return { sequence: request.sequence, sessionRevision: 2n, firstRow: 2n, replayed: false };
          },
        }),
        finishExecution: defineUnary({
          async handle(request: FinishExecutionRequest) {
            store.finishes.push(request);
            return { outcome: 1 as const, endedAt: undefined };
          },
        }),
        sendDirectMessage: defineUnary({
          async handle(request: { target: string; body: string }) {
            if (request.target === "nobody") throw new RpcError("UNKNOWN_TARGET", { metadata: { target: "nobody" } });
            return SendDirectMessageResponse.fromPartial({ delivery: { deliveryId: "del_1", state: 1 } });
          },
        }),
        getDelivery: defineUnary({
          async handle() {
            return GetDeliveryResponse.fromPartial({
              delivery: { deliveryId: "del_1", state: 3, reply: { text: "pong" } },
            });
          },
        }),
        runChild: defineServerStream({
          async *handle(request: RunChildRequest) {
            yield RunChildResponse.fromPartial({ update: { $case: "accepted", value: { sessionId: "ses_1" } } });
            const value = { outcome: 1 as const, answer: `done: ${request.task}` };
            yield RunChildResponse.fromPartial({ update: { $case: "ended", value } });
          },
        }),
      }),
    ],
  });
  return owner;
}
