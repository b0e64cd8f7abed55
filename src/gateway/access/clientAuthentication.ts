import type { ClientToken } from "../../base/clientTokens.js";
import { ancestorsOf, type ProcessTable } from "../../base/processTable.js";
import type { Authenticate } from "../../rpc/authentication.js";
import type { Connection } from "../../rpc/connection.js";
import type { PeerCredentials } from "../../rpc/peerCredentials.js";
import type { ClientPrincipal, ClientRole } from "../../rpc/principal.js";
import { RpcError } from "../../rpc/rpcError.js";
import { sourceOf } from "../../rpc/sourceOf.js";
import type { LiveWorkers } from "../ports.js";
import { descendsFromWorker } from "./descendsFromWorker.js";
import type { FailedAttempts } from "./failedAttempts.js";
import { isHealthMethod, METHOD_ROLES, roleIncludes } from "./methodRoles.js";
import type { TokenTable } from "./tokenTable.js";

/** What {@link socketAuthentication} judges by. */
export interface SocketAuthenticationOptions {
  /** See {@link LiveWorkers}. */
  readonly workers: LiveWorkers;
  readonly table: ProcessTable;
  /** Whether a process was started by a worker of this home, whether that still lives or not, by the mark in its environment. */
  readonly isMarked: (pid: number) => boolean;
  /** Whether this system names the process at the other end of a socket; where it does, one without a name is refused. */
  readonly credentialsExpected: boolean;
}

/** Deeper process trees than this do not occur. */
const MAX_DEPTH = 1_000;

const VOUCHED_BY_FILE_MODE: ClientPrincipal = { kind: "client", name: "socket", role: "operator" };

/** Lets this user and root connect, whom the socket's file mode lets through as well. @throws RpcError PERMISSION_DENIED. */
export function checkSocketUser(peer: PeerCredentials | undefined, ownUid: number | undefined): void {
  if (peer === undefined || ownUid === undefined || peer.uid === ownUid || peer.uid === 0) return;
  throw new RpcError("PERMISSION_DENIED", { message: "Only the user that runs the gateway may use its socket." });
}

/**
 * Authenticates clients of the Unix socket: this user's processes are operators, except workers and what they have started, which
 * get nothing but health here: an agent's shell must not approve what the agent asks for. Source: DESIGN section 4.
 */
export function socketAuthentication(options: SocketAuthenticationOptions): Authenticate {
  const judged = new WeakMap<Connection, RpcError | ClientPrincipal>();
  return ({ connection, method }) => {
    if (isHealthMethod(method)) return { kind: "anonymous" };
    let verdict = judged.get(connection);
    if (verdict === undefined) {
      verdict = judgeConnection(connection, options);
      judged.set(connection, verdict);
    }
    if (verdict instanceof RpcError) throw verdict;
    requireRole(verdict.role, method, verdict.name);
    return verdict;
  };
}

function judgeConnection(connection: Connection, options: SocketAuthenticationOptions): RpcError | ClientPrincipal {
  const { peer } = connection;
  if (peer === undefined) {
    return options.credentialsExpected ? new RpcError("PEER_CREDENTIALS_UNAVAILABLE") : VOUCHED_BY_FILE_MODE;
  }
  const { table } = options;
  const kinship = descendsFromWorker(peer.pid, options.workers(), table);
  // What a worker has left behind, such as a background command, is nobody's child any more.
  const line = [peer.pid, ...ancestorsOf(peer.pid, MAX_DEPTH, table).map(({ pid }) => pid)];
  if (kinship === "none" && !line.some((pid) => options.isMarked(pid))) return VOUCHED_BY_FILE_MODE;
  return new RpcError("PERMISSION_DENIED", {
    message: "The calling process belongs to a worker, which may not act as a client.",
    hint: "Use the tools that the worker offers to its agent; they go over the worker's own connection.",
  });
}

/** What {@link tokenAuthentication} judges by and tells. */
export interface TokenAuthenticationOptions {
  readonly tokens: TokenTable;
  /** Told of each token that was accepted, and on which connection. */
  readonly used: (token: ClientToken, connection: Connection) => void;
  /** Slows those who guess. */
  readonly attempts: FailedAttempts;
}

/** Authenticates clients over TCP: `authorization: Bearer <token>`. Health needs none. A wrong token is answered late, see {@link FailedAttempts}. */
export function tokenAuthentication({ tokens, used, attempts }: TokenAuthenticationOptions): Authenticate {
  return async ({ connection, metadata, method }) => {
    if (isHealthMethod(method)) return { kind: "anonymous" };
    const [value, second] = metadata.get("authorization");
    if (value === undefined || second !== undefined) throw new RpcError("UNAUTHENTICATED");
    const [, text] = /^Bearer +(\S+)$/i.exec(String(value)) ?? [];
    if (text === undefined) throw new RpcError("UNAUTHENTICATED");
    const token = tokens.find(text);
    if (token === undefined) {
      await holdUp(attempts, connection);
      throw new RpcError("TOKEN_INVALID");
    }
    used(token, connection);
    requireRole(token.role, method, token.name);
    return { kind: "client", name: token.name, role: token.role };
  };
}

async function holdUp(attempts: FailedAttempts, connection: Connection): Promise<void> {
  const gone = new AbortController();
  const unhook = connection.onClose(() => {
    gone.abort();
  });
  try {
    await attempts.failed(sourceOf(connection), gone.signal);
  } catch (caught) {
    connection.destroy();
    throw caught;
  } finally {
    unhook();
  }
}

function requireRole(role: ClientRole, method: string, caller: string): void {
  const needed = METHOD_ROLES[method];
  if (needed === undefined) throw new RpcError("UNIMPLEMENTED");
  if (roleIncludes(role, needed)) return;
  throw new RpcError("PERMISSION_DENIED", {
    message: `The method needs the role ${needed}; this token has the role ${role}.`,
    hint: "Use a token of a role that allows it.",
    metadata: { needed, role, caller },
  });
}
