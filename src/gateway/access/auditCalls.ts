import type { Clock } from "../../base/clock.js";
import type { Authenticate } from "../../rpc/authentication.js";
import type { Connection } from "../../rpc/connection.js";
import type { CallObserver } from "../../rpc/harness/callObserver.js";
import { describePrincipal, type Principal } from "../../rpc/principal.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { AuditEntry, AuditLog } from "./auditLog.js";
import { METHOD_ROLES } from "./methodRoles.js";

/** Whether a method of the client listeners changes something. */
function isMutating(method: string): boolean {
  const role = METHOD_ROLES[method];
  return role !== undefined && role !== "reader";
}

/** Records each call of a client that was to change something, when it ends. */
export function auditCalls(audit: AuditLog, clock: Clock): CallObserver {
  return ({ method, principal, connection }) => {
    if (principal.kind !== "client" || !isMutating(method)) return () => undefined;
    const at = clock.now();
    const began = clock.monotonic();
    return (error) => {
      const outcome = error === undefined ? "OK" : (error.wireReason ?? error.reason);
      audit.write(entryOf({ at, method, principal, connection, outcome, ms: clock.monotonic() - began }));
    };
  };
}

/** Records also the calls that were refused at their headers. */
export function auditRefusals(authenticate: Authenticate, audit: AuditLog, clock: Clock): Authenticate {
  return async (input) => {
    const { method, connection } = input;
    try {
      return await authenticate(input);
    } catch (caught) {
      const error = RpcError.from(caught);
      if (isMutating(method)) {
        const { caller = "", role = "" } = error.details.metadata ?? {};
        const principal = caller === "" ? undefined : ({ kind: "client", name: caller, role } as Principal);
        const outcome = error.reason;
        audit.write(entryOf({ at: clock.now(), method, principal, connection, outcome, ms: 0 }));
      }
      throw caught;
    }
  };
}

interface Recorded {
  readonly at: number;
  readonly method: string;
  readonly principal: Principal | undefined;
  readonly connection: Connection;
  readonly outcome: string;
  readonly ms: number;
}

function entryOf({ at, method, principal, connection, outcome, ms }: Recorded): AuditEntry {
  const { peer, remote } = connection;
  return {
    at: new Date(at).toISOString(),
    who: principal === undefined ? "unknown" : describePrincipal(principal),
    role: principal?.kind === "client" ? principal.role : "",
    from: remote,
    ...(peer === undefined ? {} : { uid: peer.uid, pid: peer.pid }),
    what: method,
    outcome,
    ms: Math.round(ms),
  };
}
