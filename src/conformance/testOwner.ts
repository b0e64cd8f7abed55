import { join } from "node:path";
import type { Clock } from "../base/clock.js";
import { createDeferred, type Deferred } from "../base/deferred.js";
import { silentLogger } from "../base/logger.js";
import type {
  AdoptRequest,
  FinishExecutionRequest,
  PersistRequest,
} from "../gen/talaria/owner/v1/execution_store_service.js";
import {
  ExecutionStoreServiceService,
  ReadConversationResponse,
} from "../gen/talaria/owner/v1/execution_store_service.js";
import type { AttachRequest, AttachResponse } from "../gen/talaria/owner/v1/owner_service.js";
import { OwnerServiceService } from "../gen/talaria/owner/v1/owner_service.js";
import { TurnOutcome } from "../gen/talaria/types/v1/result.js";
import { implementService, type ServiceImplementation } from "../rpc/harness/implementService.js";
import { defineBidi, defineServerStream, defineUnary, defineUnimplemented } from "../rpc/harness/methods.js";
import { startListener, type Listener } from "../rpc/listener.js";
import { Attachment } from "./attachment.js";
import type { SignalBoard } from "./signalBoard.js";

/** A store call with the connection that it came on. */
export interface StoreCall<Request> {
  readonly request: Request;
  readonly connectionId: string;
}

/** An owner that keeps nothing and whose words a check chooses: a real server on a real socket, for one worker. */
export class TestOwner {
  /** Store calls in order, repeated ones among them. */
  readonly adopts: StoreCall<AdoptRequest>[] = [];
  readonly persists: StoreCall<PersistRequest>[] = [];
  readonly finishes: StoreCall<FinishExecutionRequest>[] = [];
  /** What a store call waits for or throws before it is answered. */
  before: {
    adopt?: () => Promise<void> | void;
    persist?: (request: PersistRequest) => Promise<void> | void;
  } = {};
  /** The worker's stream, once it has attached. */
  attachment: Attachment | undefined;
  /** Attach streams that came beside the first. */
  surplus = 0;
  readonly #board: SignalBoard;
  readonly #over: Deferred<void>[] = [];
  #listener: Listener | undefined;
  readonly socketPath: string;

  /** @param directory folder of the socket */
  constructor(directory: string, board: SignalBoard) {
    this.socketPath = join(directory, "o.sock");
    this.#board = board;
  }

  /** Starts to listen. */
  async start(clock: Clock): Promise<void> {
    this.#listener = await startListener({
      name: "owner",
      transport: { kind: "unix", path: this.socketPath },
      authenticate: ({ connection }) => ({ kind: "worker", connectionId: connection.id }),
      log: silentLogger(),
      clock,
      services: [this.#ownerService(), this.#storeService()],
    });
  }

  /** Ends every stream and the listener, as an owner's death does. */
  async close(): Promise<void> {
    for (const over of this.#over) over.resolve();
    await this.#listener?.close();
  }

  #ownerService(): ServiceImplementation {
    const attach = defineBidi<AttachRequest, AttachResponse>({
      handle: async (stream, { connection }) => {
        const over = createDeferred<void>();
        this.#over.push(over);
        const attachment = new Attachment(
          {
            connection,
            send: (frame) => {
              try {
                stream.sendNow({ frame });
              } catch {
                // The worker has gone; its end is what the check looks at.
              }
            },
            end: (error) => {
              if (error === undefined) over.resolve();
              else over.reject(error);
            },
          },
          this.#board,
        );
        if (this.attachment === undefined) this.attachment = attachment;
        else this.surplus += 1;
        this.#board.changed();
        const read = async (): Promise<void> => {
          for await (const request of stream.requests) attachment.take(request);
        };
        void read()
          .catch(() => undefined)
          .then(() => {
            attachment.ended();
          });
        await over.promise;
      },
    });
    return implementService(OwnerServiceService, { attach });
  }

  #storeService(): ServiceImplementation {
    const note = <Request>(calls: StoreCall<Request>[], request: Request, connectionId: string): void => {
      calls.push({ request, connectionId });
      this.#board.changed();
    };
    const committed = new Set<bigint>();
    return implementService(ExecutionStoreServiceService, {
      adopt: defineUnary({
        handle: async (request: AdoptRequest, { connection }) => {
          note(this.adopts, request, connection.id);
          await this.before.adopt?.();
          this.attachment?.adopted();
          return { fence: request.fence, lastSequence: 0n, sessionRevision: 1n };
        },
      }),
      readConversation: defineServerStream({
        async *handle() {
          yield ReadConversationResponse.fromPartial({ messages: [{ row: 1n, role: 1, text: "earlier" }] });
        },
      }),
      persist: defineUnary({
        handle: async (request: PersistRequest, { connection }) => {
          const replayed = committed.has(request.sequence);
          committed.add(request.sequence);
          note(this.persists, request, connection.id);
          await this.before.persist?.(request);
          return { sequence: request.sequence, sessionRevision: 2n, firstRow: 2n, replayed };
        },
      }),
      finishExecution: defineUnary({
        handle: async (request: FinishExecutionRequest, { connection }) => {
          note(this.finishes, request, connection.id);
          return { outcome: TurnOutcome.TURN_OUTCOME_COMPLETED, endedAt: undefined };
        },
      }),
      // Messages and child turns are offered by a gateway; no check needs one.
      sendDirectMessage: defineUnimplemented(),
      getDelivery: defineUnimplemented(),
      runChild: defineUnimplemented(),
    });
  }
}
