import type { Socket } from "node:net";

import type { ProcessIdentity } from "../base/processIdentity.js";
import type { PeerRegistry } from "../dm/pairing/peerRegistry.js";
import type { Teammate } from "../gen/talaria/gateway/v1/agent_service.js";
import type { Worker } from "../gen/talaria/gateway/v1/admin_service.js";
import type { Turn } from "../gen/talaria/gateway/v1/turn_service.js";
import type { TurnTimes } from "../owner/turn/phaseTimes.js";
import type { Authenticate } from "../rpc/authentication.js";
import type { ServiceImplementation } from "../rpc/harness/implementService.js";
import type { PeerCredentials } from "../rpc/peerCredentials.js";
import type { PeerOverview } from "./messages/peerOverview.js";

/** A worker process, or what was launched to become one, that is not proved gone. */
export interface LiveWorker extends ProcessIdentity {
  /** Its process group. */
  readonly processGroup: number;
}

/** Names the living worker processes, those included that are not proved yet. */
export type LiveWorkers = () => readonly LiveWorker[];

/** A turn with its place in the order of inputs. */
export interface NumberedTurn {
  /** Rises with each input of the home. */
  readonly sequence: number;
  readonly turn: Turn;
}

/** What the gateway needs of the owner of worker processes. */
export interface OwnerRoom {
  /** Services of the owner socket, besides those that `dm` offers to workers. */
  readonly workerServices: readonly ServiceImplementation[];
  /** Services that it offers to clients: turns. */
  readonly clientServices: readonly ServiceImplementation[];
  /** Says who calls on the owner socket. */
  readonly authenticate: Authenticate;
  /** Judges connections of the owner socket. */
  readonly peerCheck?: (peer: PeerCredentials | undefined, socket: Socket) => void;
  /** See {@link LiveWorkers}. */
  readonly liveWorkers: LiveWorkers;
  /** Turns of a session, oldest first: those queued after input number `after` (0 for all), at most `limit`. */
  turnsOf(sessionId: string, after: number, limit: number): readonly NumberedTurn[];
  /** Tells the viewers of a session that its own data changed, or that it is gone. */
  sessionChanged(sessionId: string): void;
  /** Every worker, oldest first. */
  workers(): readonly Worker[];
  /** Worker slots in use and idle pooled workers. */
  counts(): { readonly inUse: number; readonly pooled: number };
  /** Calls `listener` with the times of each turn of which nothing is left. @returns a function that stops that. */
  onTurnTimes(listener: (times: TurnTimes) => void): () => void;
  /** Ends what earlier epochs left behind; resolves before anything may be accepted. */
  recover(): Promise<void>;
  /** Begins to start queued inputs; called once the owner socket listens. */
  start(): void;
  /** Makes a pooled worker ready for the main agent; called once the gateway serves, which it must not delay. */
  prepare(): void;
  /** Takes no more inputs, lets running turns end for `graceMs` milliseconds, then stops them. */
  drain(graceMs: number): Promise<void>;
  /** Ends at once; nothing of it runs afterwards. */
  close(): Promise<void>;
}

/** What the gateway needs of the room of direct messages. */
export interface DmRoom {
  /** Services of the client listeners. */
  readonly clientServices: readonly ServiceImplementation[];
  /** Services of the peer listener. */
  readonly peerServices: readonly ServiceImplementation[];
  /** Everyone that an agent can send to; with no agent, everyone that a client can send to. */
  teammates(agent: string | undefined): readonly Teammate[];
  /** What operators see of peers and destinations. */
  readonly overview: PeerOverview;
  /** What operators do with them. */
  readonly registry: PeerRegistry;
  /** Resumes what was on its way; called before anything is accepted. */
  start(): Promise<void>;
  /** Takes no more messages and ends what is under way within `graceMs` milliseconds. */
  drain(graceMs: number): Promise<void>;
  /** Ends at once. */
  close(): Promise<void>;
}
