import type { Migration } from "./migration.js";

/**
 * Paired gateways and connectors, keys whose pairing was ended, invites, holds of destinations, and what finds deliveries that are
 * old enough to be forgotten.
 */
export const m0005Peers: Migration = {
  version: 5,
  name: "peers",
  sql: `
CREATE TABLE peers (
  name TEXT PRIMARY KEY,
  pin TEXT NOT NULL UNIQUE,
  address TEXT NOT NULL,
  connector INTEGER NOT NULL CHECK (connector IN (0, 1)),
  grants TEXT,
  paired_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE revoked_peers (
  pin TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  revoked_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX revoked_peers_name ON revoked_peers (name);

CREATE TABLE invites (
  secret_hash BLOB PRIMARY KEY,
  principal TEXT NOT NULL,
  request_id TEXT NOT NULL,
  name TEXT NOT NULL,
  grants TEXT,
  connector INTEGER NOT NULL CHECK (connector IN (0, 1)),
  wrong_attempts INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_by TEXT,
  UNIQUE (principal, request_id)
) STRICT, WITHOUT ROWID;

ALTER TABLE destinations ADD COLUMN held_by TEXT NOT NULL DEFAULT '';
ALTER TABLE destinations ADD COLUMN held_at INTEGER;
ALTER TABLE destinations ADD COLUMN hold_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE destinations ADD COLUMN reset_by TEXT NOT NULL DEFAULT '';
ALTER TABLE destinations ADD COLUMN reset_at INTEGER;

CREATE INDEX deliveries_ended ON deliveries (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX deliveries_kept_replies ON deliveries (ended_at) WHERE reply_text IS NOT NULL;
`,
};
