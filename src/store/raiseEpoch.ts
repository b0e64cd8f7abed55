import { defineCommand } from "./command.js";

/** What a start of the gateway records about itself, and proposes for a home that has no identity yet. */
export interface StartFacts {
  /** Epoch milliseconds. */
  readonly startedAtMs: number;
  /** The gateway's process. */
  readonly pid: number;
  /** Its birth, in the clock ticks that the process table gives. */
  readonly birthTicks: bigint;
  /** The boot in which it runs. */
  readonly bootId: string;
  /** Taken as the home's id if it has none: 32 hex digits. */
  readonly proposedHomeId: string;
  /** Taken as the home's key if it has none: 32 random bytes. */
  readonly proposedHomeKey: Uint8Array;
}

/** What a start gets. */
export interface StartRecord {
  /** One more than at the last start; the first is 1. */
  readonly epoch: number;
  /** Names the home for good. */
  readonly homeId: string;
  /** Secret from which keys for outboxes are derived. */
  readonly homeKey: Uint8Array;
}

/** Raises the epoch; only under the home's lock. */
export const raiseEpoch = defineCommand<StartFacts, StartRecord>({
  name: "home.raise_epoch",
  run(tx, facts) {
    tx.run("INSERT INTO meta (key, value) VALUES ('home_id', ?) ON CONFLICT DO NOTHING", facts.proposedHomeId);
    tx.run("INSERT INTO meta (key, value) VALUES ('home_key', ?) ON CONFLICT DO NOTHING", facts.proposedHomeKey);
    const homeId = tx.get<{ value: string }>("SELECT value FROM meta WHERE key = 'home_id'");
    const homeKey = tx.get<{ value: Uint8Array }>("SELECT value FROM meta WHERE key = 'home_key'");
    const row = tx.get<{ epoch: number }>(
      `INSERT INTO epochs (epoch, started_at_ms, pid, birth_ticks, boot_id)
       VALUES ((SELECT coalesce(max(epoch), 0) + 1 FROM epochs), ?, ?, ?, ?) RETURNING epoch`,
      facts.startedAtMs,
      facts.pid,
      facts.birthTicks,
      facts.bootId,
    );
    if (!homeId || !homeKey || !row) throw new Error("the home's identity was not stored");
    return { epoch: row.epoch, homeId: homeId.value, homeKey: homeKey.value };
  },
});
