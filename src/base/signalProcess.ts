import type { ProcessIdentity } from "./processIdentity.js";
import type { ProcessTable } from "./processTable.js";
import { ancestorsOf, groupMembers, isAlive, systemProcessTable } from "./processTable.js";

/** A process group that this home launched. */
export interface GroupTarget {
  /** The group's id. */
  readonly pgid: number;
  /** The process that was launched as its leader. */
  readonly leader: ProcessIdentity;
  /** Members recorded while the leader was still proved; any survivor proves the group after the leader's end. */
  readonly members?: readonly ProcessIdentity[];
  /** Boot in which the identities were read; absent = this one. */
  readonly bootId?: string;
}

/**
 * What became of a signal: `signalled`; `gone` (nothing of the target is left); `refused` (something is there that could
 * not be proved to be the target, or that must never be signalled: nothing was sent).
 */
export type SignalOutcome =
  | { readonly kind: "signalled"; readonly provedBy: number }
  | { readonly kind: "gone" }
  | { readonly kind: "refused"; readonly why: "unproved" | "own process" | "own group" | "own ancestor" | "invalid" };

/** What signalling needs from the operating system; tests supply their own. */
export interface SignalPorts {
  /** Default: the system's. */
  readonly table?: ProcessTable;
  /** As `process.kill`, which is the default. */
  readonly kill?: (pid: number, signal: NodeJS.Signals) => unknown;
  /** This process; default `process.pid`. */
  readonly ownPid?: number;
}

/**
 * Sends `signal` to a group after proving, by pid and birth, that its leader or a recorded member is still in it: a group
 * number is not used again while a member is left. Never signals this process's own group, nor one of its ancestors'.
 */
export function signalGroup(target: GroupTarget, signal: NodeJS.Signals, ports: SignalPorts = {}): SignalOutcome {
  const { table = systemProcessTable, kill = process.kill.bind(process), ownPid = process.pid } = ports;
  const forbidden = refuseGroup(target.pgid, table, ownPid);
  if (forbidden) return forbidden;
  if (target.bootId !== undefined && target.bootId !== table.bootId()) return { kind: "gone" };
  const living = groupMembers(target.pgid, table);
  if (living.length === 0) return { kind: "gone" };
  const proof = [target.leader, ...(target.members ?? [])].find(({ pid, birthTicks }) => {
    const facts = table.read(pid);
    return facts?.birthTicks === birthTicks && facts.processGroup === target.pgid;
  });
  if (!proof) return { kind: "refused", why: "unproved" };
  return send(-target.pgid, signal, kill, proof.pid);
}

/** Sends `signal` to one process after proving its pid and birth; never to this process or one of its ancestors. */
export function signalProcess(
  target: ProcessIdentity,
  signal: NodeJS.Signals,
  { table = systemProcessTable, kill = process.kill.bind(process), ownPid = process.pid }: SignalPorts = {},
): SignalOutcome {
  if (!Number.isSafeInteger(target.pid) || target.pid <= 1) return { kind: "refused", why: "invalid" };
  if (target.pid === ownPid) return { kind: "refused", why: "own process" };
  if (ancestorsOf(ownPid, MAX_DEPTH, table).some(({ pid }) => pid === target.pid)) {
    return { kind: "refused", why: "own ancestor" };
  }
  const facts = table.read(target.pid);
  if (!isAlive(facts) || facts.birthTicks !== target.birthTicks) return { kind: "gone" };
  return send(target.pid, signal, kill, target.pid);
}

/** Deeper process trees than this do not occur. */
const MAX_DEPTH = 1_000;

function refuseGroup(pgid: number, table: ProcessTable, ownPid: number): SignalOutcome | undefined {
  if (!Number.isSafeInteger(pgid) || pgid <= 1) return { kind: "refused", why: "invalid" };
  if (pgid === ownPid || table.read(ownPid)?.processGroup === pgid) return { kind: "refused", why: "own group" };
  const isAncestors = ancestorsOf(ownPid, MAX_DEPTH, table).some(
    (ancestor) => ancestor.pid === pgid || ancestor.processGroup === pgid,
  );
  return isAncestors ? { kind: "refused", why: "own ancestor" } : undefined;
}

function send(
  to: number,
  signal: NodeJS.Signals,
  kill: NonNullable<SignalPorts["kill"]>,
  provedBy: number,
): SignalOutcome {
  try {
    kill(to, signal);
    return { kind: "signalled", provedBy };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return { kind: "gone" };
    throw error;
  }
}
