import type { PeerBook } from "../peers/peerBook.js";

/** A relay connector that is paired with this gateway. */
export interface ConnectorEntry {
  /** What this gateway calls it; the namespace of its agents. */
  readonly name: string;
  /** Agents here that its agents may reach; undefined = all that are not private. */
  readonly grants?: readonly string[];
}

/** The paired connectors, as they are at the time of the call. */
export interface ConnectorDirectory {
  /** Every connector, by name. */
  list(): readonly ConnectorEntry[];
  /** The connector of a name. */
  get(name: string): ConnectorEntry | undefined;
}

/** The connectors among everything that a gateway knows. */
export function connectorsOf(book: Pick<PeerBook, "everyone" | "named">): ConnectorDirectory {
  return {
    list: () => book.everyone().filter(({ connector }) => connector),
    get(name) {
      const known = book.named(name);
      return known?.connector === true ? known : undefined;
    },
  };
}
