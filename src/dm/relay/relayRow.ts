import { cutToCodePoints } from "../../base/codePoints.js";
import { Liveness, type RosterEntry } from "../../gen/talaria/dm/v1/roster.js";
import { displayText } from "../admission/displayText.js";
import { MAIN } from "../addresses/resolveTarget.js";

/** Most rows of one connector's roster. Source: the contract. */
export const RELAY_ROWS = 1_000;
/** Longest title, code points. */
const TITLE = 120;
/** Longest description, code points. */
const DESCRIPTION = 160;

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** An agent behind a connector. Its texts came from elsewhere: they are shown, never parsed. */
export interface RelayRow {
  /** `[a-z0-9][a-z0-9_-]{0,63}`; unique in its roster. */
  readonly name: string;
  /** The name, or `main` for the machine's main agent. */
  readonly handle: string;
  /** One line of at most 120 code points. */
  readonly title: string;
  /** One line of at most 160 code points; may be empty. */
  readonly description: string;
  /** What the connector says: `unknown` where it says nothing that is known here. */
  readonly liveness: "online" | "offline" | "unknown";
  /** Whether it is the machine's main agent. */
  readonly main: boolean;
}

/**
 * Reads a roster that a connector published: rows whose name or handle is none are dropped, of two with one name the first is
 * kept, names are compared in lower case, texts lose what is not fit for one line and are cut. Pure. Source: dm reference 3.2.
 */
export function readRelayRows(entries: readonly RosterEntry[]): readonly RelayRow[] {
  const rows = new Map<string, RelayRow>();
  for (const entry of entries.slice(0, RELAY_ROWS)) {
    const name = entry.name.toLowerCase();
    const handle = entry.handle.toLowerCase();
    if (!NAME.test(name) || !NAME.test(handle) || rows.has(name)) continue;
    const title = oneLine(entry.title, TITLE);
    rows.set(name, {
      name,
      handle,
      title: title === "" ? name : title,
      description: oneLine(entry.description, DESCRIPTION),
      liveness: livenessOf(entry.liveness),
      main: entry.main && handle === MAIN,
    });
  }
  return [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function oneLine(text: string, limit: number): string {
  return cutToCodePoints(displayText(text, limit), limit);
}

function livenessOf(liveness: Liveness): RelayRow["liveness"] {
  switch (liveness) {
    case Liveness.LIVENESS_ONLINE:
      return "online";
    case Liveness.LIVENESS_OFFLINE:
      return "offline";
    default:
      return "unknown";
  }
}
