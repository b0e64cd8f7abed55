import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@grpc/grpc-js";

import { createClient } from "../../src/rpc/clients/connectClient.js";
import type { ForeignWorker } from "../kit/foreignWorkers.js";

/** A worker's second connection to its owner, whose answers can be kept back and which can be cut. */
export class StoreWire {
  /** Calls over it. */
  readonly client: Client;
  readonly #directory: string;
  readonly #server: Server;
  readonly #pairs: (readonly [near: Socket, far: Socket])[] = [];

  private constructor(directory: string, server: Server, address: string) {
    this.#directory = directory;
    this.#server = server;
    this.client = createClient({ address, purpose: "unixStream", ownConnection: true });
  }

  /** Lays a wire through a worker's process, so that the kernel names that process to the owner. */
  static async open(worker: ForeignWorker): Promise<StoreWire> {
    const attached = await worker.events.first("launched", ({ kind }) => kind === "attached");
    const target = attached.kind === "attached" ? attached.path : "";
    const directory = mkdtempSync(join(tmpdir(), "tw-"));
    const path = join(directory, "w.sock");
    const server = createServer().listen(path);
    await once(server, "listening");
    const wire = new StoreWire(directory, server, `unix:${path}`);
    server.on("connection", (near) => {
      const far = connect(target);
      wire.#pairs.push([near, far]);
      near.pipe(far).pipe(near);
      near.on("error", () => far.destroy());
      far.on("error", () => near.destroy());
      near.on("close", () => far.destroy());
      far.on("close", () => near.destroy());
    });
    return wire;
  }

  /** Keeps back what the owner answers, from here on. */
  holdAnswers(): void {
    for (const [near, far] of this.#pairs) {
      far.unpipe(near);
      far.pause();
    }
  }

  /** Breaks it and takes no other connection. */
  cut(): void {
    this.#server.close();
    for (const [near, far] of this.#pairs) {
      near.destroy();
      far.destroy();
    }
  }

  /** Lets go of everything. */
  close(): void {
    this.cut();
    this.client.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
