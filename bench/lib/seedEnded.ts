import { closeSync, fsyncSync, openSync } from "node:fs";
import { systemClock } from "../../src/base/clock.js";
import { homePaths } from "../../src/base/home.js";
import { openDatabase, type Database } from "../../src/store/database.js";
import { seedBacklog } from "./seedBacklog.js";

/** How long the messages are spread over, milliseconds, up to an hour ago: none is old enough to go. */
const SPAN_MS = 20 * 3_600_000;
const HOUR_MS = 3_600_000;

/** Messages that have come, were answered and are kept. */
export interface EndedShape {
  readonly count: number;
  /** Agents that answered them, in turn. */
  readonly recipients: readonly string[];
  /** The gateway that they came from. */
  readonly other: string;
}

/**
 * Fills a home that nobody serves with messages of another gateway that ended as replied, with their inputs, in the store's own schema. One
 * statement for each table, without a journal: a seed that is cut short leaves a home of no use.
 */
export async function seedEnded(home: string, { count, recipients, other }: EndedShape): Promise<void> {
  // The store makes its schema and the sessions, with one message for each agent; those are the first to be ended.
  const shape = { count: recipients.length, recipients, bytes: 64, other, direction: "inbound" } as const;
  await seedBacklog(home, shape);
  const database = openDatabase(homePaths(home).database);
  try {
    database.exec("PRAGMA journal_mode = OFF");
    database.exec("PRAGMA synchronous = OFF");
    database.exec("PRAGMA cache_size = -524288");
    forgetQueued(database);
    insertEnded(database, { count, recipients, other });
    const stored = database.prepare("SELECT COUNT(*) AS count FROM deliveries").get() as { count: number };
    if (stored.count !== count) throw new Error(`${String(stored.count)} of ${String(count)} messages were seeded`);
    database.exec("PRAGMA journal_mode = WAL");
  } finally {
    database.close();
  }
  // So that the syncs of what is measured do not wait for the seed's.
  const file = openSync(homePaths(home).database, "r+");
  fsyncSync(file);
  closeSync(file);
}

/** Removes the messages that wait in a home that nobody serves, as if they had never come. */
export function forgetWaiting(home: string): void {
  const database = openDatabase(homePaths(home).database);
  try {
    database.exec("BEGIN");
    forgetQueued(database);
    database.exec("COMMIT");
  } finally {
    database.close();
  }
}

function forgetQueued(database: Database): void {
  database.exec(`
    UPDATE turn_totals SET admitted = admitted - (SELECT COUNT(*) FROM inputs WHERE state = 'queued');
    DELETE FROM inputs WHERE state = 'queued';
    DELETE FROM deliveries WHERE state = 'queued';
    UPDATE delivery_totals SET accepted = accepted - queued, queued = 0;
  `);
}

function insertEnded(database: Database, { count, recipients, other }: EndedShape): void {
  database.exec("CREATE TEMP TABLE lanes (place INTEGER PRIMARY KEY, agent TEXT, session_id TEXT)");
  const lane = database.prepare(
    "INSERT INTO lanes SELECT ?, agent, session_id FROM sessions WHERE agent = ? AND bot_chat = 1",
  );
  for (const [place, agent] of recipients.entries()) lane.run(place, agent);
  const beganAt = Math.trunc(systemClock.now()) - HOUR_MS - SPAN_MS;
  // Every id in the order of time, as the store gives them.
  const rows = `
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${String(count)}),
    ended AS (
      SELECT n, printf('%026d', n) AS id, agent, session_id,
        ${String(beganAt)} + CAST(n * ${String(SPAN_MS / count)} AS INTEGER) AS at
      FROM numbers CROSS JOIN lanes ON place = n % ${String(recipients.length)}
    )`;
  const author = `'peer_agent', 'agent:${other}/sender' || n % 61, 'A sender', ''`;
  const trace = "'00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', ''";
  database.exec(`${rows}
    INSERT INTO inputs (sequence, input_id, session_id, principal, request_scope, request_id, digest, state,
      author_kind, author_id, author_name, author_sent_by, attribution, text, headless, delivery_id, depth, from_message,
      traceparent, tracestate, execution_id, outcome, queued_at, started_at, ended_at)
    SELECT n, 'inp_' || id, session_id, 'agent:${other}/sender' || n % 61, 'delivery', 'del_' || id || '.1', zeroblob(32), 'ended',
      ${author}, 'Message from A sender:', 'Are you there? I have a question.', 0, 'del_' || id, 1, 1,
      ${trace}, 'exe_' || id, 'completed', at, at + 1000, at + 2000
    FROM ended`);
  database.exec(`${rows}
    INSERT INTO deliveries (sequence, delivery_id, lane_place, principal_scope, key, digest, state, route,
      author_kind, author_id, author_name, author_sent_by, started_by, target, recipient_gateway, recipient_agent, recipient_name,
      body, body_bytes, body_code_points, in_reply_to, depth, attempt_epoch, attempts, created_at, expires_at, claimed_at,
      ended_at, reply_text, reply_sha256, reply_code_points, hops, traceparent, tracestate, input_id, execution_id, revision,
      receipt_sequence, updated_at)
    SELECT n, 'del_' || id, n, 'peer:${other}', 'del_' || id, randomblob(32), 'replied', 'peer_inbound',
      ${author}, '', agent, '', agent, agent,
      NULL, 0, 33, '', 1, 1, 1, at, at + 86400000, at + 1000,
      at + 2000, 'Yes, I am here.', randomblob(32), 15,
      '[{"gateway":"${other}","acceptedAt":' || at || ',"attempt":1,"deliveryId":"del_' || id || '"}]',
      ${trace}, 'inp_' || id, 'exe_' || id, 3, n * 3, at + 2000
    FROM ended`);
  database.exec(`
    UPDATE delivery_totals SET accepted = ${String(count)}, replied = ${String(count)};
    UPDATE delivery_counters SET lane = ${String(count)}, receipt = ${String(count * 3)};
    UPDATE turn_totals SET admitted = ${String(count)}, started = ${String(count)}, ended = ${String(count)};
    INSERT INTO turn_outcomes (outcome, reason, turns) VALUES ('completed', '', ${String(count)});
  `);
}
