import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import { remoteOf } from "../remoteOf.js";
import { sourceOf } from "../sourceOf.js";
import { isWholeHello, MAX_HELLO_BYTES } from "./clientHello.js";
import { createWaitingRoom } from "./waitingRoom.js";

/** How many connections may be on their way through TLS, and for how long. */
export interface HandshakeLimits {
  /** Handshakes that run at a time. */
  readonly running: number;
  /** How long one counts as running, milliseconds: after that another may start beside it. It is not ended by this. */
  readonly countedMs: number;
  /** Connections that wait for their turn, or have sent no hello yet, at a time. */
  readonly waiting: number;
  /** How long a client may take to send its hello, milliseconds. */
  readonly helloMs: number;
  /** How long a connection may wait for its turn after that, milliseconds. A client that gives up leaves by itself. */
  readonly waitMs: number;
  /** How long connections wait in the order in which they came, milliseconds; beyond it the newest has its turn first. */
  readonly patienceMs: number;
}

/**
 * Enough handshakes to fill the time in which each waits for its client. The patience is half of what our own clients wait for an answer
 * (10 s): what starts later would often be given up before it is served.
 */
export const DEFAULT_HANDSHAKE_LIMITS: HandshakeLimits = Object.freeze({
  running: 32,
  countedMs: 1_000,
  waiting: 8_192,
  helloMs: 5_000,
  waitMs: 60_000,
  patienceMs: 5_000,
});

/** How long arrivals may put off the next handshake, milliseconds. */
const ARRIVALS_FIRST_MS = 100;

/** Between two words in the log about connections that were turned away, milliseconds. */
const REPORT_MS = 10_000;

/** What {@link createHandshakeGate} needs. */
export interface HandshakeGateOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits: HandshakeLimits;
  /** Starts the handshake on a socket: paused, with what the client has sent so far to be read from it. */
  readonly start: (socket: Socket) => void;
}

/**
 * Keeps a crowd of clients from taking all the time there is for handshakes that end after their clients have left. Only some run at a
 * time. The others wait, at no cost but their socket, and one whose client has gone is closed before any work is done for it. Who says
 * nothing gets no turn, and sources of connections take turns.
 */
export interface HandshakeGate {
  /** Takes over a socket that was just accepted, paused. */
  arrive(socket: Socket): void;
  /** Says that the handshake of a client is over. @param remote where it comes from, as `remoteOf` says */
  over(remote: string): void;
  /** Closes what waits, and every handshake that is not over; what arrives from here on is closed. */
  close(): void;
}

interface Arrival {
  readonly socket: Socket;
  readonly remote: string;
  /** Takes the socket away from the gate. @returns what its client has sent */
  readonly release: () => Buffer;
}

/** Makes a gate that nobody is at. */
export function createHandshakeGate({ clock, log, limits, start }: HandshakeGateOptions): HandshakeGate {
  const room = createWaitingRoom<Arrival>(limits.waiting, limits.patienceMs);
  /** What ends the count of each running handshake, by where its client is. */
  const running = new Map<string, () => void>();
  /** Handshakes that are not over, counted or not, by where their clients are. */
  const begun = new Map<string, Socket>();
  let turnedAway = 0;
  let endReport = (): void => undefined;

  const letIn = (): void => {
    while (running.size < limits.running) {
      const arrival = room.next(clock.monotonic());
      if (arrival === undefined) return;
      const { socket, remote } = arrival;
      const sent = arrival.release();
      socket.pause();
      socket.unshift(sent);
      begin(socket, remote);
    }
  };
  /**
   * Lets in once a turn of the event loop has brought nobody and nothing. A turn accepts one connection, so those that wait in the kernel
   * are taken in before any work is done; among them are some whose clients have left, which the turn after the hello tells.
   */
  const letInSoon = (): void => {
    stirred = true;
    if (looking) return;
    looking = true;
    const sinceMs = clock.monotonic();
    const look = (): void => {
      if (stirred && clock.monotonic() - sinceMs < ARRIVALS_FIRST_MS) {
        stirred = false;
        setImmediate(look);
        return;
      }
      looking = false;
      letIn();
    };
    setImmediate(look);
  };
  let stirred = false;
  let looking = false;
  const begin = (socket: Socket, remote: string): void => {
    begun.set(remote, socket);
    socket.once("close", () => {
      if (begun.get(remote) === socket) begun.delete(remote);
    });
    count(socket, remote);
    start(socket);
  };
  const count = (socket: Socket, remote: string): void => {
    const over = (): void => {
      if (running.get(remote) !== over) return;
      running.delete(remote);
      cancel();
      socket.off("close", over);
      letInSoon();
    };
    const cancel = clock.after(limits.countedMs, over);
    socket.once("close", over);
    running.set(remote, over);
  };
  const drop = (arrival: Arrival): void => {
    room.leave(arrival);
    arrival.release();
    arrival.socket.destroy();
  };
  const turnAway = (arrival: Arrival): void => {
    drop(arrival);
    if (turnedAway === 0) {
      endReport = clock.after(REPORT_MS, () => {
        log.warn({ connections: turnedAway }, "more connections came than could be served in time");
        turnedAway = 0;
      });
    }
    turnedAway += 1;
  };

  let closed = false;
  return {
    arrive(socket) {
      // A broken socket closes.
      socket.on("error", () => undefined);
      if (closed) {
        socket.destroy();
        return;
      }
      const remote = remoteOf(socket);
      const chunks: Buffer[] = [];
      let bytes = 0;
      let whole = false;
      const onData = (chunk: Buffer): void => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > MAX_HELLO_BYTES) onGone();
        else if (!whole && isWholeHello(Buffer.concat(chunks))) onWhole();
      };
      const onWhole = (): void => {
        whole = true;
        cancel();
        cancel = clock.after(limits.waitMs, () => {
          turnAway(arrival);
        });
        room.ready(arrival, clock.monotonic());
        letInSoon();
      };
      const onGone = (): void => {
        drop(arrival);
      };
      let cancel = clock.after(limits.helloMs, onGone);
      const arrival: Arrival = {
        socket,
        remote,
        release() {
          cancel();
          socket.off("data", onData).off("end", onGone).off("close", onGone);
          return Buffer.concat(chunks);
        },
      };
      socket.on("data", onData).once("end", onGone).once("close", onGone);
      const left = room.enter(arrival, sourceOf({ remote }));
      if (left !== undefined) turnAway(left);
      socket.resume();
      letInSoon();
    },
    over(remote) {
      begun.delete(remote);
      running.get(remote)?.();
    },
    close() {
      closed = true;
      for (const arrival of room.all()) drop(arrival);
      for (const over of [...running.values()]) over();
      for (const socket of begun.values()) socket.destroy();
      endReport();
    },
  };
}
