import type { RelayNamespace } from "../relay/relayRosters.js";
import type { RelayRow } from "../relay/relayRow.js";
import { bearersOf } from "./aliasForms.js";

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Whom `<handle>@<connection>` means. */
export type RelayResolution =
  | { readonly kind: "relay"; readonly connector: string; readonly agent: string; readonly title: string }
  /** Its machine is known to be away, or is known not to have such an agent. */
  | { readonly kind: "relayOffline"; readonly connector: string }
  | { readonly kind: "unknown" }
  | { readonly kind: "ambiguous"; readonly forms: readonly string[] };

/** The form that reaches an agent behind a connector, whatever else bears its name: no other form does. */
export function relayAddress(connector: string, agent: string): string {
  return `${agent}@${connector}`;
}

/**
 * Resolves a connection-qualified target. An exact name or handle goes before a friendly name; several fits are nobody. What a
 * fresh roster calls offline, or does not hold, is refused; where nothing fresh is known, a word that can be a name is taken for
 * one, and the message waits. Pure. Source: dm reference 1.4 and 3.3.
 */
export function resolveRelay(handle: string, connection: string, relays: readonly RelayNamespace[]): RelayResolution {
  const connector = connection.toLowerCase();
  const namespace = relays.find((one) => one.connector === connector);
  if (namespace === undefined) return { kind: "unknown" };
  const word = handle.toLowerCase();
  const [first, second, ...others] = rowsOf(word, namespace.rows);
  if (first === undefined) {
    if (namespace.fresh) return { kind: "relayOffline", connector };
    return NAME.test(word) ? { kind: "relay", connector, agent: word, title: word } : { kind: "unknown" };
  }
  if (second !== undefined) {
    return { kind: "ambiguous", forms: [first, second, ...others].map(({ name }) => relayAddress(connector, name)) };
  }
  if (namespace.fresh && first.liveness === "offline") return { kind: "relayOffline", connector };
  return { kind: "relay", connector, agent: first.name, title: first.title };
}

function rowsOf(word: string, rows: readonly RelayRow[]): readonly RelayRow[] {
  const named = rows.filter(({ name }) => name === word);
  if (named.length > 0) return named;
  const handled = rows.filter(({ handle }) => handle === word);
  if (handled.length > 0) return handled;
  return bearersOf(word, rows);
}
