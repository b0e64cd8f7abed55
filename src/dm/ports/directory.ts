/** An agent of this gateway, as messages see it. */
export interface AgentEntry {
  /** Folder's name, `[a-z0-9][a-z0-9_-]{0,63}`. */
  readonly name: string;
  /** Name for people. */
  readonly title: string;
  /** One line about what it is for; may be empty. */
  readonly description: string;
  /** Whether it is the home's main agent. */
  readonly main: boolean;
  /** Whether others can neither see nor reach it. */
  readonly private: boolean;
  /** Whether it sends and receives messages. */
  readonly messaging: boolean;
}

/** The agents of this gateway, as they are at the time of the call. */
export interface AgentDirectory {
  /** Every agent, private ones included, by name. */
  list(): readonly AgentEntry[];
  /** The agent of a name. */
  get(name: string): AgentEntry | undefined;
}

/** A gateway that messages can be sent to. */
export interface PeerEntry {
  /** What this gateway calls it. */
  readonly name: string;
  /** `host:port` of its peer listener; empty where it cannot be dialled. */
  readonly address: string;
  /** Pin of its identity key. */
  readonly pin: string;
  /** Whether it is a relay connector, which has no address; absent = it is not. */
  readonly connector?: boolean;
  /** Agents there that may be addressed; undefined = all. */
  readonly agents?: readonly string[];
  /** Agents here that it may reach; undefined = all that are not private. */
  readonly grants?: readonly string[];
}

/** The paired gateways, as they are at the time of the call. */
export interface PeerDirectory {
  /** Every peer, by name. */
  list(): readonly PeerEntry[];
  /** The peer of a name. */
  get(name: string): PeerEntry | undefined;
}
