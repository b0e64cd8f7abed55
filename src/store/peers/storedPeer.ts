import type { Queryable } from "../sql.js";

/** A paired gateway or connector as rows keep it. */
export interface StoredPeer {
  /** What this gateway calls it. */
  readonly name: string;
  /** Pin of its identity key. */
  readonly pin: string;
  /** `host:port` of its peer listener; empty where it cannot be dialled. */
  readonly address: string;
  /** Whether it is a relay connector. */
  readonly connector: boolean;
  /** Agents of this gateway that it may reach; undefined = all that are not private. */
  readonly grants: readonly string[] | undefined;
  /** Epoch milliseconds. */
  readonly pairedAt: number;
}

interface PeerRow {
  name: string;
  pin: string;
  address: string;
  connector: number;
  grants: string | null;
  paired_at: number;
}

/** Every paired gateway and connector, by name. */
export function readPeers(from: Queryable): readonly StoredPeer[] {
  return from.all<PeerRow>("SELECT * FROM peers ORDER BY name").map(fromRow);
}

/** The peer of a name. */
export function readPeer(from: Queryable, name: string): StoredPeer | undefined {
  return optional(from.get<PeerRow>("SELECT * FROM peers WHERE name = ?", name));
}

/** The peer of a key. */
export function readPeerByPin(from: Queryable, pin: string): StoredPeer | undefined {
  return optional(from.get<PeerRow>("SELECT * FROM peers WHERE pin = ?", pin));
}

/** A key whose pairing was ended. */
export interface RevokedKey {
  readonly pin: string;
  /** What the peer was called. */
  readonly name: string;
}

/** Every key whose pairing was ended and not made again. */
export function readRevokedKeys(from: Queryable): readonly RevokedKey[] {
  return from.all<{ pin: string; name: string }>("SELECT pin, name FROM revoked_peers ORDER BY pin");
}

/** A list of agents as a `grants` column holds it. */
export function grantsColumn(grants: readonly string[] | undefined): string | null {
  return grants === undefined ? null : JSON.stringify(grants);
}

/** Reads a `grants` column back. */
export function grantsFromColumn(column: string | null): readonly string[] | undefined {
  return column === null ? undefined : (JSON.parse(column) as string[]);
}

function optional(row: PeerRow | undefined): StoredPeer | undefined {
  return row === undefined ? undefined : fromRow(row);
}

function fromRow(row: PeerRow): StoredPeer {
  return {
    name: row.name,
    pin: row.pin,
    address: row.address,
    connector: row.connector === 1,
    grants: grantsFromColumn(row.grants),
    pairedAt: row.paired_at,
  };
}
