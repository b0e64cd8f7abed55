import { Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { join } from "node:path";
import { silentLogger } from "../../src/base/logger.js";
import { createDeferred } from "../../src/base/deferred.js";
import { decodeAttachRequest } from "../../src/owner/attach/attachRequests.js";
import {
  OwnerServiceService,
  type AttachRequest,
  type AttachResponse,
} from "../../src/gen/talaria/owner/v1/owner_service.js";
import { implementService, type ServiceImplementation } from "../../src/rpc/harness/implementService.js";
import { defineBidi } from "../../src/rpc/harness/methods.js";
import { startListener } from "../../src/rpc/listener.js";
import { answerCalls } from "../lib/calls.js";
import { ownCpuTime } from "../lib/cpuTime.js";
import { makeHome, removeHome } from "../lib/benchHome.js";

/** What the owner's end does: acknowledges each frame, reads nothing at all, or reads and counts the source deltas. */
export type LinkMode = "echo" | "stalled" | "count";

const running: { close?: () => Promise<void>; deltas: number; more: () => void } = { deltas: 0, more: () => undefined };

function count(request: AttachRequest): void {
  if (request.frame?.$case !== "events") return;
  for (const { event } of request.frame.value.events) {
    if (event?.$case === "delta") running.deltas += event.value.text.length;
  }
  running.more();
}

function ownerService(mode: LinkMode, closing: Promise<void>): ServiceImplementation {
  return implementService(OwnerServiceService, {
    attach: defineBidi<AttachRequest, AttachResponse>({
      decode: decodeAttachRequest,
      async handle(stream) {
        if (mode === "stalled") await closing;
        for await (const request of stream.requests) {
          count(request);
          if (mode === "echo") stream.sendNow({ frame: { $case: "ack", value: { sequence: request.sequence } } });
        }
      },
    }),
  });
}

const methods = {
  /** Opens a Unix socket with our harness, or with a bare grpc-js server and its default options. @returns the address */
  open: async ({ mode, bare }: { readonly mode: LinkMode; readonly bare: boolean }): Promise<string> => {
    const home = makeHome({});
    const path = join(home, "l.sock");
    const closing = createDeferred<void>();
    running.deltas = 0;
    if (bare) {
      const server = new Server();
      server.addService(OwnerServiceService, {
        attach: (call: ServerDuplexStream<AttachRequest, AttachResponse>) => {
          if (mode !== "stalled") call.on("data", count);
          call.on("end", () => call.end());
          call.on("error", () => undefined);
        },
      });
      await new Promise<void>((resolve, reject) => {
        server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) => {
          if (error === null) resolve();
          else reject(error);
        });
      });
      running.close = async () => {
        server.forceShutdown();
        removeHome(home);
      };
      return `unix:${path}`;
    }
    const listener = await startListener({
      name: "link",
      services: [ownerService(mode, closing.promise)],
      authenticate: ({ connection }) => ({ kind: "worker", connectionId: connection.id }),
      transport: { kind: "unix", path },
      log: silentLogger(),
    });
    running.close = async () => {
      closing.resolve();
      await listener.close();
      removeHome(home);
    };
    return listener.address;
  },
  /** Waits until so many bytes of text have been read. @returns CPU time of this process */
  counted: async ({ bytes }: { readonly bytes: number }): Promise<number> => {
    while (running.deltas < bytes) {
      await new Promise<void>((resolve) => {
        running.more = resolve;
      });
    }
    return ownCpuTime();
  },
  /** Ends it. */
  close: async () => {
    await running.close?.();
  },
};

/** See the methods. */
export type LinkMethods = typeof methods;

answerCalls(methods);
