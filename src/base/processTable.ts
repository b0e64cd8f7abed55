import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";

import { parsePs, parseStat } from "./parseStat.js";
import type { ProcessFacts, ProcessIdentity } from "./processIdentity.js";

/** The operating system's view of processes; injected where decisions depend on it. */
export interface ProcessTable {
  /** The process with this number, dead and not reaped ones included; undefined if there is none. */
  read(pid: number): ProcessFacts | undefined;
  /** Every process. */
  list(): readonly ProcessFacts[];
  /** Changes at every boot, so that recorded births of an earlier boot are known to be void. */
  bootId(): string;
}

/** Reads `/proc` on Linux; elsewhere asks `ps`, whose births have a grain of one second. */
export const systemProcessTable: ProcessTable =
  process.platform === "linux"
    ? { read: readFromProc, list: listFromProc, bootId: bootIdFromProc }
    : { read: readFromPs, list: listFromPs, bootId: bootIdFromSysctl };

/** The process with this number, or undefined. See {@link ProcessTable.read}. */
export function readProcess(pid: number, table: ProcessTable = systemProcessTable): ProcessFacts | undefined {
  return table.read(pid);
}

/** The present boot's id. See {@link ProcessTable.bootId}. */
export function bootId(table: ProcessTable = systemProcessTable): string {
  return table.bootId();
}

/** Whether a process is more than an entry that its parent has not reaped. */
export function isAlive(facts: ProcessFacts | undefined): facts is ProcessFacts {
  return facts !== undefined && facts.state !== "Z" && facts.state !== "X";
}

/** Whether the process that `identity` names still exists, unreaped ones included. */
export function isSameProcess(identity: ProcessIdentity, table: ProcessTable = systemProcessTable): boolean {
  return table.read(identity.pid)?.birthTicks === identity.birthTicks;
}

/** The parents of `pid`, nearest first, at most `depth` of them; not `pid` itself. */
export function ancestorsOf(
  pid: number,
  depth: number,
  table: ProcessTable = systemProcessTable,
): readonly ProcessFacts[] {
  const found: ProcessFacts[] = [];
  let next = table.read(pid)?.parentPid ?? 0;
  while (next > 0 && found.length < depth) {
    const facts = table.read(next);
    if (!facts) break;
    found.push(facts);
    next = facts.parentPid;
  }
  return found;
}

/** The living processes of a group. Empty means that the group is gone. */
export function groupMembers(pgid: number, table: ProcessTable = systemProcessTable): readonly ProcessFacts[] {
  return table.list().filter((facts) => facts.processGroup === pgid && isAlive(facts));
}

/** Every living process that descends from `pid`, whatever its group; not `pid` itself. */
export function descendantsOf(pid: number, table: ProcessTable = systemProcessTable): readonly ProcessFacts[] {
  const all = table.list();
  const family = new Set([pid]);
  for (let size = 0; size !== family.size;) {
    size = family.size;
    for (const facts of all) if (family.has(facts.parentPid)) family.add(facts.pid);
  }
  return all.filter((facts) => facts.pid !== pid && family.has(facts.pid) && isAlive(facts));
}

function readFromProc(pid: number): ProcessFacts | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  try {
    return parseStat(readFileSync(`/proc/${String(pid)}/stat`, "latin1"), statSync(`/proc/${String(pid)}`).uid);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ESRCH") return undefined;
    throw error;
  }
}

function listFromProc(): readonly ProcessFacts[] {
  return readdirSync("/proc").flatMap((entry) => {
    const facts = /^[0-9]+$/.test(entry) ? readFromProc(Number(entry)) : undefined;
    return facts ? [facts] : [];
  });
}

function bootIdFromProc(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

const PS_COLUMNS = "pid=,ppid=,pgid=,uid=,state=,lstart=";

function ps(selection: readonly string[]): ProcessFacts[] {
  try {
    return parsePs(
      execFileSync("ps", [...selection, "-o", PS_COLUMNS], {
        encoding: "utf8",
        env: { PATH: "/bin:/usr/bin", LC_ALL: "C" },
      }),
    );
  } catch (error) {
    if ((error as { status?: number | null }).status === 1) return [];
    throw error;
  }
}

function readFromPs(pid: number): ProcessFacts | undefined {
  return Number.isSafeInteger(pid) && pid > 0 ? ps(["-p", String(pid)])[0] : undefined;
}

function listFromPs(): readonly ProcessFacts[] {
  return ps(["-A"]);
}

function bootIdFromSysctl(): string {
  return execFileSync("/usr/sbin/sysctl", ["-n", "kern.bootsessionuuid"], { encoding: "utf8" }).trim();
}
