import type { Clock } from "../../base/clock.js";
import type { ProcessFacts, ProcessIdentity } from "../../base/processIdentity.js";
import type { ProcessTable } from "../../base/processTable.js";
import { isAlive } from "../../base/processTable.js";
import type { SignalOutcome } from "../../base/signalProcess.js";
import { signalGroup } from "../../base/signalProcess.js";

/** How often a dying group is looked at, milliseconds. */
const LOOK_AGAIN_MS = 5;
const LOOK_AGAIN_MAX_MS = 200;

/** The group that one launch leads. It knows its members by pid and birth, so that no stranger is ever signalled. */
export class ProcessGroup {
  readonly #leader: ProcessIdentity;
  readonly #table: ProcessTable;
  readonly #clock: Clock;
  readonly #members = new Map<string, ProcessIdentity>();
  #seen: readonly ProcessFacts[] = [];

  constructor(leader: ProcessIdentity, table: ProcessTable, clock: Clock) {
    this.#leader = leader;
    this.#table = table;
    this.#clock = clock;
  }

  /** The group's number. */
  get id(): number {
    return this.#leader.pid;
  }

  /** Everything that ran on the machine when the group was last looked at. */
  get lastLook(): readonly ProcessFacts[] {
    return this.#seen;
  }

  /** Notes who is in the group, while its leader or a noted member lives: its number cannot be anybody else's then. */
  note(): void {
    const known = [this.#leader, ...this.#members.values()];
    const proved = known.some(({ pid, birthTicks }) => {
      const facts = this.#table.read(pid);
      return facts?.birthTicks === birthTicks && facts.processGroup === this.id;
    });
    if (proved) this.#noteMembers();
  }

  /** Notes who is left, in the very moment in which the leader has ended: its number was not given to anybody else yet. */
  noteAtExit(): void {
    const now = this.#table.read(this.#leader.pid);
    if (now === undefined || now.birthTicks === this.#leader.birthTicks) this.#noteMembers();
  }

  /** Notes a member that is known from elsewhere, such as the launch record. */
  remember(member: ProcessIdentity): void {
    this.#members.set(`${String(member.pid)}/${String(member.birthTicks)}`, member);
  }

  /** Whether nobody is left whom this launch brought. */
  isGone(): boolean {
    return this.#living().length === 0;
  }

  /** Signals the whole group after proving it through its leader or a noted member. */
  signal(signal: NodeJS.Signals): SignalOutcome {
    this.note();
    return signalGroup({ pgid: this.id, leader: this.#leader, members: [...this.#members.values()] }, signal, {
      table: this.#table,
    });
  }

  /** Kills the group and waits until it is proved gone. Resolves with false where what is left is not provably ours. */
  async kill(): Promise<boolean> {
    for (let wait = LOOK_AGAIN_MS; ; wait = Math.min(wait * 2, LOOK_AGAIN_MAX_MS)) {
      if (this.isGone()) return true;
      const outcome = this.signal("SIGKILL");
      if (outcome.kind === "gone") return true;
      if (outcome.kind === "refused") return false;
      await new Promise<void>((resolve) => this.#clock.after(wait, resolve));
    }
  }

  /** Members of the leader's session: another one in the group has come from elsewhere. */
  #noteMembers(): void {
    for (const { pid, birthTicks, session } of this.#living()) {
      if (session === 0 || session === this.id) this.remember({ pid, birthTicks });
    }
  }

  #living(): readonly ProcessFacts[] {
    this.#seen = this.#table.list();
    return this.#seen.filter((facts) => facts.processGroup === this.id && isAlive(facts));
  }
}
