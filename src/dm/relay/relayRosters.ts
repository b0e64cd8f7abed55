import type { Clock } from "../../base/clock.js";
import type { ConnectorDirectory } from "./connectorDirectory.js";
import type { RelayRow } from "./relayRow.js";

/** How long what a connector said of its agents holds after it was last heard, milliseconds. Source: dm reference 3.3. */
export const ROSTER_FRESH_MS = 600_000;

/** The agents behind one connector, as they are at the time of the call. */
export interface RelayNamespace {
  /** The connector; what stands behind the `@` of its agents' addresses. */
  readonly connector: string;
  /** Empty where it has not published any. */
  readonly rows: readonly RelayRow[];
  /** Whether the rows can be believed: they were published, and the connector was heard within {@link ROSTER_FRESH_MS}. */
  readonly fresh: boolean;
}

/** What connectors have published of their agents. In memory: a connector publishes again whenever it connects. */
export interface RelayRosters {
  /** Replaces the whole roster of a connector. */
  publish(connector: string, rows: readonly RelayRow[]): void;
  /** Says that a connector was heard. */
  heard(connector: string): void;
  /** Every connector of the directory, by name. */
  namespaces(): readonly RelayNamespace[];
}

/** Makes rosters that hold nothing. A connector that left the directory has no namespace any more. */
export function createRelayRosters(connectors: ConnectorDirectory, clock: Clock): RelayRosters {
  const published = new Map<string, { rows: readonly RelayRow[]; heardAt: number }>();
  return {
    publish(connector, rows) {
      published.set(connector, { rows, heardAt: clock.monotonic() });
    },
    heard(connector) {
      const roster = published.get(connector);
      if (roster !== undefined) roster.heardAt = clock.monotonic();
    },
    namespaces() {
      const now = clock.monotonic();
      return connectors.list().map(({ name }) => {
        const roster = published.get(name);
        return {
          connector: name,
          rows: roster?.rows ?? [],
          fresh: roster !== undefined && now - roster.heardAt < ROSTER_FRESH_MS,
        };
      });
    },
  };
}
