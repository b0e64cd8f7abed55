import { assertNever } from "../../base/assertNever.js";
import type { AgentEntry, PeerEntry } from "../ports/directory.js";
import type { RelayNamespace } from "../relay/relayRosters.js";
import type { RelayRow } from "../relay/relayRow.js";
import { bearersOf } from "./aliasForms.js";
import { resolveRelay, type RelayResolution } from "./resolveRelay.js";
import type { ParsedTarget } from "./targetGrammar.js";

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Word that names a gateway's main agent. */
export const MAIN = "main";

/** Whom a target may mean. */
export interface Neighbourhood {
  /** Agents of this gateway; private ones are as if they were not there. */
  readonly agents: readonly AgentEntry[];
  /** Paired gateways. */
  readonly peers: readonly PeerEntry[];
  /** Agents behind connectors; absent = none can be reached. */
  readonly relays?: readonly RelayNamespace[];
  /** What a peer has said of its agents, for their friendly names; absent = nothing is known. Asked only where it matters. */
  readonly rosterOf?: (peer: string) => { readonly rows: readonly RelayRow[] } | undefined;
}

/** Whom a target means. */
export type Resolution =
  | { readonly kind: "local"; readonly agent: AgentEntry }
  | { readonly kind: "peer"; readonly peer: PeerEntry; readonly agent: string }
  | Extract<RelayResolution, { kind: "relay" | "relayOffline" }>
  | { readonly kind: "unknown" }
  | { readonly kind: "unknownPeer"; readonly peer: string }
  /** Several; `forms` are the targets that name each of them alone. */
  | { readonly kind: "ambiguous"; readonly forms: readonly string[] };

/** Finds out whom a target means; where several fit, nobody is chosen. Pure. Source: DESIGN section 5, dm reference 1.4. */
export function resolveTarget(
  target: ParsedTarget,
  { agents, peers, relays = [], rosterOf }: Neighbourhood,
): Resolution {
  const visible = agents.filter((agent) => !agent.private);
  switch (target.kind) {
    case "empty":
    case "invalid":
      return { kind: "unknown" };
    // The only form that reaches behind a connector: a bare word never means what a far machine publishes under it.
    case "connection":
      return resolveRelay(target.handle, target.connection, relays);
    case "local": {
      const agent = localByName(target.name, visible);
      return agent === undefined ? { kind: "unknown" } : { kind: "local", agent };
    }
    case "peerAgent": {
      const peer = peers.find(({ name }) => name === target.peer);
      if (peer === undefined) return { kind: "unknownPeer", peer: target.peer };
      return peerAgent(peer, target.agent.toLowerCase(), rosterOf);
    }
    case "bare":
      return resolveBare(target.text, visible, peers);
    default:
      return assertNever(target, "target");
  }
}

function resolveBare(text: string, visible: readonly AgentEntry[], peers: readonly PeerEntry[]): Resolution {
  const word = text.toLowerCase();
  const peer = peers.find(({ name }) => name === word);
  const locals = localsOf(word, visible);
  const found: readonly Resolution[] = [
    ...locals.map((agent): Resolution => ({ kind: "local", agent })),
    ...(peer === undefined ? [] : [peerAgent(peer, MAIN)]),
  ];
  const [first, second] = found;
  if (first === undefined) return { kind: "unknown" };
  if (second === undefined) return first;
  const forms = [...locals.map(({ name }) => `agent:${name}`), ...(peer === undefined ? [] : [`${peer.name}/${MAIN}`])];
  return { kind: "ambiguous", forms };
}

/** Agents that a bare word means: those with the exact name, or `main`; only if there is none, those with the alias. */
function localsOf(word: string, visible: readonly AgentEntry[]): readonly AgentEntry[] {
  const exact = visible.filter((agent) => agent.name === word || (word === MAIN && agent.main));
  if (exact.length > 0) return exact;
  return bearersOf(word, visible);
}

function localByName(name: string, visible: readonly AgentEntry[]): AgentEntry | undefined {
  return visible.find((agent) => agent.name === name) ?? (name === MAIN ? visible.find(({ main }) => main) : undefined);
}

/**
 * An agent of a peer: by its name, which the peer may have though its roster does not hold it yet, else by a friendly name that one
 * agent of the roster bears. A name goes before a friendly name.
 */
function peerAgent(peer: PeerEntry, word: string, rosterOf?: Neighbourhood["rosterOf"]): Resolution {
  const named = NAME.test(word);
  if (word === MAIN || (named && peer.agents?.includes(word) === true)) return { kind: "peer", peer, agent: word };
  const rows = rosterOf?.(peer.name)?.rows.filter((row) => row.main || peer.agents?.includes(row.name) !== false) ?? [];
  const [first, ...others] = rows.some(({ name }) => name === word) ? [] : bearersOf(word, rows);
  if (first !== undefined) {
    if (others.length === 0) return { kind: "peer", peer, agent: first.main ? MAIN : first.name };
    return { kind: "ambiguous", forms: [first, ...others].map(({ name }) => `${peer.name}/${name}`) };
  }
  return named && peer.agents === undefined ? { kind: "peer", peer, agent: word } : { kind: "unknown" };
}
