import type { Migration } from "./migration.js";

/**
 * Direct messages: one row a delivery, totals that move with the facts they count (by trigger, so that no statement can
 * forget them), the counters that number lanes and receipts, and what is known of each destination.
 */
export const m0003Deliveries: Migration = {
  version: 3,
  name: "deliveries",
  sql: `
CREATE TABLE deliveries (
  sequence INTEGER PRIMARY KEY,
  delivery_id TEXT NOT NULL UNIQUE,
  lane_place INTEGER NOT NULL,
  principal_scope TEXT NOT NULL,
  key TEXT NOT NULL,
  digest BLOB NOT NULL,
  state TEXT NOT NULL
    CHECK (state IN ('queued', 'claimed', 'replied', 'silent', 'failed', 'expired', 'cancelled', 'unknown')),
  route TEXT NOT NULL
    CHECK (route IN ('local', 'peer_outbound', 'peer_inbound', 'relay_outbound', 'relay_inbound')),
  author_kind TEXT NOT NULL,
  author_id TEXT NOT NULL,
  author_name TEXT NOT NULL,
  author_sent_by TEXT NOT NULL,
  sender_session_id TEXT,
  started_by TEXT NOT NULL,
  target TEXT NOT NULL,
  recipient_gateway TEXT NOT NULL,
  recipient_agent TEXT NOT NULL,
  recipient_name TEXT NOT NULL,
  body TEXT,
  body_bytes INTEGER NOT NULL,
  body_code_points INTEGER NOT NULL,
  in_reply_to TEXT NOT NULL,
  depth INTEGER NOT NULL,
  attempt_epoch INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  undecided INTEGER NOT NULL DEFAULT 0 CHECK (undecided IN (0, 1)),
  next_attempt_at INTEGER,
  last_error TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  claimed_at INTEGER,
  ended_at INTEGER,
  reply_text TEXT,
  reply_truncated INTEGER NOT NULL DEFAULT 0,
  reply_sha256 BLOB,
  reply_code_points INTEGER NOT NULL DEFAULT 0,
  failure TEXT,
  hops TEXT NOT NULL,
  told_at INTEGER,
  told_input_id TEXT,
  told_count INTEGER NOT NULL DEFAULT 0,
  traceparent TEXT NOT NULL,
  tracestate TEXT NOT NULL,
  input_id TEXT,
  execution_id TEXT,
  retry_mode TEXT CHECK (retry_mode IN ('resume', 'compress_then_resume')),
  retried_execution_id TEXT,
  redrive_key TEXT,
  revision INTEGER NOT NULL DEFAULT 1,
  receipt_sequence INTEGER,
  updated_at INTEGER NOT NULL,
  UNIQUE (principal_scope, key),
  CHECK ((state IN ('queued', 'claimed')) = (ended_at IS NULL)),
  CHECK ((retry_mode IS NULL) = (retried_execution_id IS NULL)),
  CHECK ((body IS NULL) = (body_bytes = 0))
) STRICT;
CREATE INDEX deliveries_lane ON deliveries (recipient_gateway, recipient_agent, lane_place, author_id)
  WHERE state = 'queued';
CREATE INDEX deliveries_far ON deliveries (recipient_gateway, sequence)
  WHERE route IN ('peer_outbound', 'relay_outbound') AND state = 'claimed';
CREATE INDEX deliveries_expiry ON deliveries (expires_at) WHERE state IN ('queued', 'claimed');
CREATE INDEX deliveries_open_digest ON deliveries (principal_scope, digest)
  WHERE state IN ('queued', 'claimed') AND route IN ('local', 'peer_outbound', 'relay_outbound');
CREATE INDEX deliveries_receipts ON deliveries (principal_scope, receipt_sequence) WHERE receipt_sequence IS NOT NULL;
CREATE INDEX deliveries_loops ON deliveries (author_id, started_by, created_at) WHERE started_by <> '';
CREATE INDEX deliveries_kept_bodies ON deliveries (ended_at) WHERE body IS NOT NULL AND ended_at IS NOT NULL;

CREATE TABLE delivery_totals (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  accepted INTEGER NOT NULL DEFAULT 0,
  queued INTEGER NOT NULL DEFAULT 0,
  claimed INTEGER NOT NULL DEFAULT 0,
  replied INTEGER NOT NULL DEFAULT 0,
  silent INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  expired INTEGER NOT NULL DEFAULT 0,
  cancelled INTEGER NOT NULL DEFAULT 0,
  unknown INTEGER NOT NULL DEFAULT 0,
  body_bytes INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO delivery_totals (one) VALUES (1);

CREATE TRIGGER deliveries_accepted AFTER INSERT ON deliveries BEGIN
  UPDATE delivery_totals SET accepted = accepted + 1, body_bytes = body_bytes + new.body_bytes,
    queued = queued + (new.state = 'queued'),
    claimed = claimed + (new.state = 'claimed'),
    replied = replied + (new.state = 'replied'),
    silent = silent + (new.state = 'silent'),
    failed = failed + (new.state = 'failed'),
    expired = expired + (new.state = 'expired'),
    cancelled = cancelled + (new.state = 'cancelled'),
    unknown = unknown + (new.state = 'unknown')
    WHERE one = 1;
END;
CREATE TRIGGER deliveries_moved AFTER UPDATE OF state ON deliveries WHEN old.state <> new.state BEGIN
  UPDATE delivery_totals SET
    queued = queued + (new.state = 'queued') - (old.state = 'queued'),
    claimed = claimed + (new.state = 'claimed') - (old.state = 'claimed'),
    replied = replied + (new.state = 'replied') - (old.state = 'replied'),
    silent = silent + (new.state = 'silent') - (old.state = 'silent'),
    failed = failed + (new.state = 'failed') - (old.state = 'failed'),
    expired = expired + (new.state = 'expired') - (old.state = 'expired'),
    cancelled = cancelled + (new.state = 'cancelled') - (old.state = 'cancelled'),
    unknown = unknown + (new.state = 'unknown') - (old.state = 'unknown')
    WHERE one = 1;
END;
CREATE TRIGGER deliveries_body_changed AFTER UPDATE OF body_bytes ON deliveries WHEN old.body_bytes <> new.body_bytes
BEGIN
  UPDATE delivery_totals SET body_bytes = body_bytes + new.body_bytes - old.body_bytes WHERE one = 1;
END;
CREATE TRIGGER deliveries_forgotten AFTER DELETE ON deliveries WHEN old.body_bytes > 0 BEGIN
  UPDATE delivery_totals SET body_bytes = body_bytes - old.body_bytes WHERE one = 1;
END;

CREATE TABLE delivery_counters (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  lane INTEGER NOT NULL DEFAULT 0,
  receipt INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO delivery_counters (one) VALUES (1);
INSERT INTO meta (key, value) VALUES ('store_id', lower(hex(randomblob(16))));

CREATE TABLE loop_guards (
  author_id TEXT NOT NULL,
  other_id TEXT NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (author_id, other_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE destinations (
  gateway TEXT PRIMARY KEY,
  failures INTEGER NOT NULL DEFAULT 0,
  next_attempt_at INTEGER,
  last_error TEXT,
  receipt_cursor INTEGER NOT NULL DEFAULT 0,
  store_id TEXT NOT NULL DEFAULT '',
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
};
