import type { PeerIdentity } from "./peerIdentity.js";

/** What a client may do: everything, its own work, or look only. */
export type ClientRole = "operator" | "client" | "reader";

/** A person's or program's client, known by a token or by the Unix socket it came through. */
export interface ClientPrincipal {
  readonly kind: "client";
  /** Name of the token, or of the way in; at most 200 code points. */
  readonly name: string;
  readonly role: ClientRole;
}

/** A worker on the owner socket; what it may do is decided by the proof bound to its connection. */
export interface WorkerPrincipal {
  readonly kind: "worker";
  /** Id of the connection, as in {@link CallContext}'s connection. */
  readonly connectionId: string;
}

/** Another gateway, known by its pinned key. */
export interface PeerPrincipal {
  readonly kind: "peer";
  /** Name that this gateway gave to the peer. */
  readonly name: string;
  /** Pin of the peer's identity key. */
  readonly pin: string;
}

/** A relay connector, known by its pinned key. */
export interface ConnectorPrincipal {
  readonly kind: "connector";
  /** Name that this gateway gave to the connector; it is the namespace of its agents. */
  readonly name: string;
  /** Pin of the connector's identity key. */
  readonly pin: string;
}

/** Somebody unknown, who may do next to nothing: look at health, or pair. */
export interface AnonymousPrincipal {
  readonly kind: "anonymous";
  /** Pin of the key that was presented over TLS, where one was. */
  readonly pin?: string;
}

/** Who calls. Always derived by the listener, never taken from a header on trust. Source: DESIGN section 4. */
export type Principal = ClientPrincipal | WorkerPrincipal | PeerPrincipal | ConnectorPrincipal | AnonymousPrincipal;

/** The principal of a TLS connection: a paired key's owner, else an anonymous caller with the pin that was presented. */
export function principalOfIdentity(identity: PeerIdentity | undefined): Principal {
  if (identity === undefined) return { kind: "anonymous" };
  if (identity.kind === "unknown") return { kind: "anonymous", pin: identity.pin };
  return { kind: identity.kind, name: identity.name, pin: identity.pin };
}

/** A short name for logs, such as `client:cli` or `anonymous`. */
export function describePrincipal(principal: Principal): string {
  switch (principal.kind) {
    case "client":
    case "peer":
    case "connector":
      return `${principal.kind}:${principal.name}`;
    case "worker":
      return `worker:${principal.connectionId}`;
    case "anonymous":
      return "anonymous";
  }
}
