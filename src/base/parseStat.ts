import type { ProcessFacts } from "./processIdentity.js";

/**
 * Reads the text of `/proc/<pid>/stat`. The command's name, in parentheses, may itself hold spaces and parentheses.
 * @throws Error where the text has not the documented shape.
 */
export function parseStat(text: string, uid: number): ProcessFacts {
  const pid = Number.parseInt(text, 10);
  const [state, parent, group, session, ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const birth = rest[15];
  if (!Number.isInteger(pid) || !state || !parent || !group || !session || birth === undefined) {
    throw new Error("unexpected process status text");
  }
  return {
    pid,
    parentPid: Number(parent),
    birthTicks: BigInt(birth),
    state,
    processGroup: Number(group),
    session: Number(session),
    uid,
  };
}

/** Reads the lines of `ps -o pid=,ppid=,pgid=,uid=,state=,lstart=`; lines of another shape are left out. */
export function parsePs(text: string): ProcessFacts[] {
  return text.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\S)\S*\s+(.+?)\s*$/.exec(line);
    const born = Date.parse(match?.[6] ?? "");
    if (!match || Number.isNaN(born)) return [];
    return [
      {
        pid: Number(match[1]),
        parentPid: Number(match[2]),
        processGroup: Number(match[3]),
        uid: Number(match[4]),
        state: match[5] ?? "?",
        session: 0,
        birthTicks: BigInt(Math.floor(born / 1_000)),
      },
    ];
  });
}
