import type { ProcessFacts } from "../../base/processIdentity.js";
import type { ProcessTable } from "../../base/processTable.js";
import { isAlive } from "../../base/processTable.js";
import type { ReadMarks } from "./launchMark.js";
import type { MarkedLaunch } from "./proveByMark.js";

/** A process that a turn has started to go on after it, as it was recorded. */
export interface StayingProcess {
  /** The group, and the session, that it leads. A number that has changed hands since lets too much stay, never too little. */
  readonly processGroup: number;
}

/** What {@link findEscaped} needs. */
export interface EscapeSearch {
  /** The launch; nobody is left in its group. */
  readonly launch: MarkedLaunch;
  readonly table: ProcessTable;
  readonly marksOf: ReadMarks;
  /** Leaders of the other launches that live: who is in their sessions is theirs. */
  readonly others: ReadonlySet<number>;
  /** Background processes that are recorded. */
  readonly staying: readonly StayingProcess[];
}

/** Environments that are read in one go: each holds the loop for some hundredths of a millisecond. */
const READ_AT_ONCE = 16;

/**
 * The processes that have left the group of their launch: they bear its mark, are no older than it and of its leader's user, and are not meant
 * to stay. Background commands bear a mark of their own; those that are recorded are left alone with their session and whoever descends
 * from them.
 * @param list everything that runs
 */
export async function findEscaped(
  search: EscapeSearch,
  list: readonly ProcessFacts[],
): Promise<readonly ProcessFacts[]> {
  const { launch, table, marksOf, others } = search;
  const { leader } = launch;
  const candidates = list.filter(
    (facts) =>
      isAlive(facts) &&
      facts.birthTicks >= leader.birthTicks &&
      // Whoever is in the group was to be proved and killed as the group.
      facts.processGroup !== leader.pid &&
      !others.has(facts.session),
  );
  const all = new Map(list.map((facts) => [facts.pid, facts]));
  const found: ProcessFacts[] = [];
  for (const [at, facts] of candidates.entries()) {
    if (at > 0 && at % READ_AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    const marks = marksOf(facts.pid);
    if (marks?.launch !== launch.launchId || marks.background || mayStay(facts, all, search.staying)) continue;
    // The number could have changed hands between the two looks.
    if (table.read(facts.pid)?.birthTicks === facts.birthTicks) found.push(facts);
  }
  return found;
}

/** Whether a process or one above it is in a group or a session that a staying process leads. */
function mayStay(
  facts: ProcessFacts,
  all: ReadonlyMap<number, ProcessFacts>,
  staying: readonly StayingProcess[],
): boolean {
  const led = new Set(staying.map(({ processGroup }) => processGroup));
  const seen = new Set<number>();
  for (
    let one: ProcessFacts | undefined = facts;
    one !== undefined && !seen.has(one.pid);
    one = all.get(one.parentPid)
  ) {
    if (led.has(one.session) || led.has(one.processGroup)) return true;
    seen.add(one.pid);
  }
  return false;
}
