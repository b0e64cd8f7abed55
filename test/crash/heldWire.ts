import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

/** A connection that passes, and its two ends. */
interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

/**
 * Carries bytes between one gateway and the other's peer listener without reading them, so that TLS and pins are between the two. What
 * passes can be held in either direction, and the way cut, at a moment that the test chooses.
 */
export class HeldWire {
  /** `host:port` that gateways dial; stays the same while the listener behind it changes. */
  readonly address: string;
  /** Listener behind it, `host:port`; empty for none. */
  target = "";
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  readonly #held = { up: false, down: false };
  #isCut = false;
  #bytesDown = 0;

  private constructor(server: Server) {
    this.#server = server;
    this.address = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    server.on("connection", (near) => {
      this.#join(near);
    });
  }

  /** Opens a wire on a free port. */
  static async open(): Promise<HeldWire> {
    const server = createServer({ pauseOnConnect: true });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new HeldWire(server);
  }

  /** Bytes from the listener that are kept back: they have been sent and have not arrived. */
  get bytesHeld(): number {
    return this.#bytesDown;
  }

  /** Keeps back what the dialling side sends, from here on. */
  holdUp(): void {
    this.#held.up = true;
    for (const { near } of this.#pairs) near.pause();
  }

  /** Keeps back what the listener sends, from here on, and counts it. */
  holdDown(): void {
    this.#held.down = true;
    this.#bytesDown = 0;
  }

  /** Ends every connection and takes no other. */
  cut(): void {
    this.#isCut = true;
    for (const { near, far } of this.#pairs) {
      near.destroy();
      far.destroy();
    }
  }

  /** Lets everything pass again. Connections on which bytes were kept back are ended: a peer has lost them with its process. */
  release(): void {
    const wasDown = this.#held.down;
    this.#held.up = false;
    this.#held.down = false;
    this.#isCut = false;
    for (const { near, far } of this.#pairs) {
      if (wasDown) {
        near.destroy();
        far.destroy();
      } else near.resume();
    }
  }

  /** Ends it. */
  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(near: Socket): void {
    const [host, port] = [this.target.slice(0, this.target.lastIndexOf(":")), this.target.split(":").at(-1)];
    if (this.#isCut || this.target === "") {
      near.destroy();
      return;
    }
    const far = connect(Number(port), host);
    const pair = { near, far };
    this.#pairs.add(pair);
    const end = (): void => {
      this.#pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) socket.on("error", end).on("close", end);
    near.on("data", (bytes: Buffer) => far.write(bytes));
    far.on("data", (bytes: Buffer) => {
      if (this.#held.down) this.#bytesDown += bytes.length;
      else near.write(bytes);
    });
    if (!this.#held.up) near.resume();
  }
}
