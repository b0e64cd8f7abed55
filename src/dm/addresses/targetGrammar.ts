/** A target as its text alone tells. */
export type ParsedTarget =
  /** Nothing but white space and `@`. */
  | { readonly kind: "empty" }
  /** `agent:<name>`: an agent of this gateway, whatever else bears the name. */
  | { readonly kind: "local"; readonly name: string }
  /** `<peer>/<agent>`, where the agent may be meant by a friendly name. */
  | { readonly kind: "peerAgent"; readonly peer: string; readonly agent: string }
  /** `<handle>@<connection>`. */
  | { readonly kind: "connection"; readonly handle: string; readonly connection: string }
  /** A bare word: an agent, a peer, `main`, or a friendly name. */
  | { readonly kind: "bare"; readonly text: string }
  /** Fits no form. */
  | { readonly kind: "invalid" };

const LOCAL_PREFIX = "agent:";
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const PEER_AGENT = /^([a-z0-9][a-z0-9_-]{0,63})\/([^/@\s][^/@]*)$/;
const LONGEST_TARGET = 200;

/**
 * Reads a target: trimmed, with every leading `@` removed. Names are compared in lower case; the peer's part of
 * `<peer>/<agent>` must be written in it. Pure: whether anybody is there is decided elsewhere.
 */
export function parseTarget(typed: string): ParsedTarget {
  const text = typed.trim().replace(/^@+/, "").trim();
  if (text === "") return { kind: "empty" };
  if (text.length > LONGEST_TARGET || /\p{Cc}/u.test(text)) return { kind: "invalid" };
  if (text.startsWith(LOCAL_PREFIX)) {
    const name = text.slice(LOCAL_PREFIX.length).toLowerCase();
    return NAME.test(name) ? { kind: "local", name } : { kind: "invalid" };
  }
  const [, peer, agent] = PEER_AGENT.exec(text) ?? [];
  if (peer !== undefined && agent !== undefined) return { kind: "peerAgent", peer, agent };
  const at = text.indexOf("@");
  if (at > 0 && at < text.length - 1) {
    return { kind: "connection", handle: text.slice(0, at), connection: text.slice(at + 1) };
  }
  return at >= 0 || text.includes("/") ? { kind: "invalid" } : { kind: "bare", text };
}
