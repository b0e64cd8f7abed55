import { LIMITS } from "../base/limits.js";
import type { ProcessFacts } from "../base/processIdentity.js";
import { ancestorsOf, systemProcessTable, type ProcessTable } from "../base/processTable.js";
import type { Build, Hello, ProcessIdentity } from "../gen/talaria/owner/v1/owner_service.js";
import { WORKER_PROTOCOL } from "./build.js";

/** Makes the first frame: what the worker says of itself, with births from the same process table as the owner's. */
export function describeProcess(
  token: Buffer,
  pid: number,
  build: Build,
  table: ProcessTable = systemProcessTable,
): Hello {
  const bootId = table.bootId();
  const identity = ({ pid: number, birthTicks }: Pick<ProcessFacts, "pid" | "birthTicks">): ProcessIdentity => ({
    pid: number,
    birth: birthTicks,
    bootId,
  });
  return {
    token,
    process: identity({ pid, birthTicks: table.read(pid)?.birthTicks ?? 0n }),
    ancestors: ancestorsOf(pid, LIMITS.ancestorDepth, table).map(identity),
    build,
    protocol: WORKER_PROTOCOL,
  };
}
