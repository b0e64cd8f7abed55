import type { PeerIdentity } from "../../rpc/peerIdentity.js";
import type { Pin, PinLookup } from "../../rpc/tls/pin.js";
import { readPeers, readRevokedKeys, type RevokedKey, type StoredPeer } from "../../store/peers/storedPeer.js";
import type { Queryable } from "../../store/sql.js";
import type { PeerDirectory, PeerEntry } from "../ports/directory.js";

/** A peer as operators see it. */
export interface BookedPeer extends PeerEntry {
  /** Whether it is a relay connector. */
  readonly connector: boolean;
  /** Whether the configuration names it; then nothing but the configuration changes it. */
  readonly configured: boolean;
  /** Epoch milliseconds; undefined for a configured one. */
  readonly pairedAt: number | undefined;
}

/**
 * Every key that this gateway knows: the configured peers, and those that were paired. Where both claim a name or a key, the
 * configuration wins. As a directory it lists gateways; connectors are none.
 */
export interface PeerBook extends PeerDirectory {
  /** Which keys are known at the time of the call. */
  readonly pins: PinLookup;
  /** Everything that is known, connectors too, by name. */
  everyone(): readonly BookedPeer[];
  /** Whatever bears the name, a connector too. */
  named(name: string): BookedPeer | undefined;
  /** The peer of a key. */
  byPin(pin: string): BookedPeer | undefined;
  /** Whose key a pin names. */
  identify(pin: Pin): PeerIdentity;
  /** Whether the key's pairing was ended. */
  isRevoked(pin: string): boolean;
  /** Names of peers that are none any more. */
  revokedNames(): readonly string[];
  /** Reads again what is stored; to be called after each commit that changed it. */
  refresh(): void;
}

/** Opens the book. @param configured the peers of the configuration, by name */
export function createPeerBook(reader: Queryable, configured: () => readonly PeerEntry[]): PeerBook {
  let book = readBook(reader, configured());
  return {
    pins: { has: (pin) => book.byPin.has(pin) },
    list: () => book.gateways,
    get(name) {
      const peer = book.byName.get(name);
      return peer === undefined || peer.connector ? undefined : peer;
    },
    everyone: () => book.everyone,
    named: (name) => book.byName.get(name),
    byPin: (pin) => book.byPin.get(pin),
    identify(pin) {
      const peer = book.byPin.get(pin);
      return peer === undefined
        ? { kind: "unknown", pin }
        : { kind: peer.connector ? "connector" : "peer", name: peer.name, pin };
    },
    isRevoked: (pin) => !book.byPin.has(pin) && book.revoked.some((key) => key.pin === pin),
    revokedNames: () => [...new Set(book.revoked.map(({ name }) => name))].filter((name) => !book.byName.has(name)),
    refresh() {
      book = readBook(reader, configured());
    },
  };
}

interface Book {
  readonly everyone: readonly BookedPeer[];
  readonly gateways: readonly BookedPeer[];
  readonly byName: ReadonlyMap<string, BookedPeer>;
  readonly byPin: ReadonlyMap<string, BookedPeer>;
  readonly revoked: readonly RevokedKey[];
}

function readBook(reader: Queryable, configured: readonly PeerEntry[]): Book {
  const byName = new Map<string, BookedPeer>();
  const byPin = new Map<string, BookedPeer>();
  const stored = readPeers(reader).map(fromStored);
  const first = configured.map((peer) => ({
    ...peer,
    connector: peer.connector === true,
    configured: true,
    pairedAt: undefined,
  }));
  for (const peer of [...first, ...stored]) {
    if (byName.has(peer.name) || byPin.has(peer.pin)) continue;
    byName.set(peer.name, peer);
    byPin.set(peer.pin, peer);
  }
  const everyone = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    everyone,
    gateways: everyone.filter(({ connector }) => !connector),
    byName,
    byPin,
    revoked: readRevokedKeys(reader),
  };
}

function fromStored({ name, pin, address, connector, grants, pairedAt }: StoredPeer): BookedPeer {
  return {
    name,
    pin,
    address,
    connector,
    configured: false,
    pairedAt,
    ...(grants === undefined ? {} : { grants }),
  };
}
