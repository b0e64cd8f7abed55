import type { Migration } from "./migration.js";

/** Sessions, their inputs and transcripts, executions with their store streams, prompts and launches. */
export const m0002Sessions: Migration = {
  version: 2,
  name: "sessions",
  sql: `
CREATE TABLE sessions (
  session_id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  title TEXT NOT NULL,
  bot_chat INTEGER NOT NULL CHECK (bot_chat IN (0, 1)),
  on_unknown TEXT NOT NULL CHECK (on_unknown IN ('pause', 'continue')),
  policy BLOB NOT NULL,
  generation INTEGER NOT NULL DEFAULT 0,
  revision INTEGER NOT NULL DEFAULT 0,
  rows INTEGER NOT NULL DEFAULT 0,
  context_from_row INTEGER NOT NULL DEFAULT 1,
  running_execution_id TEXT,
  paused_execution_id TEXT,
  parent_execution_id TEXT,
  parent_session_id TEXT REFERENCES sessions (session_id) ON DELETE CASCADE,
  child_depth INTEGER NOT NULL DEFAULT 0,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cache_read_tokens INTEGER NOT NULL DEFAULT 0,
  cache_write_tokens INTEGER NOT NULL DEFAULT 0,
  reasoning_tokens INTEGER NOT NULL DEFAULT 0,
  api_calls INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX sessions_bot_chat ON sessions (agent) WHERE bot_chat = 1;
CREATE INDEX sessions_updated ON sessions (updated_at, session_id);
CREATE INDEX sessions_parent ON sessions (parent_session_id) WHERE parent_session_id IS NOT NULL;

CREATE TABLE inputs (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  input_id TEXT NOT NULL UNIQUE,
  session_id TEXT NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
  principal TEXT NOT NULL,
  request_scope TEXT NOT NULL,
  request_id TEXT NOT NULL,
  digest BLOB NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'started', 'ended')),
  author_kind TEXT NOT NULL,
  author_id TEXT NOT NULL,
  author_name TEXT NOT NULL,
  author_sent_by TEXT NOT NULL,
  attribution TEXT NOT NULL,
  text TEXT NOT NULL,
  headless INTEGER NOT NULL CHECK (headless IN (0, 1)),
  delivery_id TEXT,
  in_reply_to TEXT,
  depth INTEGER NOT NULL,
  from_message INTEGER NOT NULL DEFAULT 0 CHECK (from_message IN (0, 1)),
  traceparent TEXT NOT NULL,
  tracestate TEXT NOT NULL,
  execution_id TEXT,
  outcome TEXT CHECK (outcome IN ('completed', 'failed', 'interrupted', 'unknown', 'cancelled')),
  failure TEXT,
  queued_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  vain_starts INTEGER NOT NULL DEFAULT 0,
  CHECK ((state = 'ended') = (outcome IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX inputs_request ON inputs (principal, request_scope, request_id) WHERE request_scope <> 'delivery';
CREATE INDEX inputs_lane ON inputs (session_id, sequence) WHERE state = 'queued';
CREATE INDEX inputs_session ON inputs (session_id, sequence);
CREATE INDEX inputs_execution ON inputs (execution_id) WHERE execution_id IS NOT NULL;

CREATE TABLE attachments (
  attachment_id TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  request_id TEXT NOT NULL,
  media_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  sha256 BLOB NOT NULL,
  used INTEGER NOT NULL DEFAULT 0 CHECK (used IN (0, 1)),
  created_at INTEGER NOT NULL,
  UNIQUE (principal, request_id)
) STRICT;
CREATE INDEX attachments_content ON attachments (sha256, size_bytes);

CREATE TABLE input_attachments (
  input_id TEXT NOT NULL REFERENCES inputs (input_id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  attachment_id TEXT NOT NULL REFERENCES attachments (attachment_id),
  PRIMARY KEY (input_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX input_attachments_of ON input_attachments (attachment_id);

CREATE TABLE untold (
  input_id TEXT NOT NULL REFERENCES inputs (input_id) ON DELETE CASCADE,
  telling TEXT NOT NULL CHECK (telling IN ('event', 'command')),
  PRIMARY KEY (input_id, telling)
) STRICT, WITHOUT ROWID;

CREATE TABLE executions (
  execution_id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
  input_id TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('claimed', 'assigned', 'adopted', 'result', 'finished', 'lost')),
  adoption_digest BLOB,
  launch_id TEXT,
  last_sequence INTEGER NOT NULL DEFAULT 0,
  outcome TEXT,
  result BLOB,
  evidence TEXT,
  created_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
CREATE INDEX executions_session ON executions (session_id);
CREATE INDEX executions_open ON executions (state) WHERE state NOT IN ('finished', 'lost');

CREATE TABLE store_operations (
  execution_id TEXT NOT NULL REFERENCES executions (execution_id) ON DELETE CASCADE,
  sequence INTEGER NOT NULL,
  digest BLOB NOT NULL,
  session_revision INTEGER NOT NULL,
  first_row INTEGER NOT NULL,
  PRIMARY KEY (execution_id, sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE messages (
  session_id TEXT NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
  row INTEGER NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'system', 'tool')),
  text TEXT NOT NULL,
  author_kind TEXT NOT NULL,
  author_id TEXT NOT NULL,
  author_name TEXT NOT NULL,
  author_sent_by TEXT NOT NULL,
  tool_calls TEXT,
  tool_call_id TEXT,
  tool_name TEXT,
  reasoning TEXT,
  execution_id TEXT,
  compacted INTEGER NOT NULL DEFAULT 0,
  boundary INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, row)
) STRICT, WITHOUT ROWID;

CREATE TABLE answer_chunks (
  execution_id TEXT NOT NULL REFERENCES executions (execution_id) ON DELETE CASCADE,
  sequence INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (execution_id, sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE auxiliary_usage (
  session_id TEXT NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
  purpose TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  api_calls INTEGER NOT NULL,
  cost_usd REAL NOT NULL,
  PRIMARY KEY (session_id, purpose, provider, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE children (
  execution_id TEXT NOT NULL REFERENCES executions (execution_id) ON DELETE CASCADE,
  child_id TEXT NOT NULL,
  state TEXT NOT NULL,
  task TEXT NOT NULL,
  answer TEXT NOT NULL,
  session_id TEXT,
  input_id TEXT,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (execution_id, child_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX children_session ON children (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE background_processes (
  session_id TEXT NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
  process_id TEXT NOT NULL,
  pid INTEGER NOT NULL,
  birth TEXT NOT NULL,
  process_group INTEGER NOT NULL,
  command TEXT NOT NULL,
  state TEXT NOT NULL,
  exit_code INTEGER,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, process_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE prompts (
  prompt_id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
  execution_id TEXT NOT NULL,
  worker_prompt_id TEXT NOT NULL,
  request BLOB NOT NULL,
  end TEXT,
  answer TEXT,
  answered_by TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  ended_at INTEGER,
  UNIQUE (execution_id, worker_prompt_id)
) STRICT;
CREATE INDEX prompts_open ON prompts (created_at) WHERE end IS NULL;

CREATE TABLE grants (
  grant_id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  command TEXT NOT NULL,
  granted_by TEXT NOT NULL,
  granted_at INTEGER NOT NULL,
  UNIQUE (agent, command)
) STRICT;

CREATE TABLE launches (
  launch_id TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  pid INTEGER NOT NULL,
  birth TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  process_group INTEGER NOT NULL,
  worker_pid INTEGER,
  worker_birth TEXT,
  unproved TEXT,
  created_at INTEGER NOT NULL,
  gone_at INTEGER
) STRICT;
CREATE INDEX launches_live ON launches (epoch) WHERE gone_at IS NULL;

CREATE TABLE turn_totals (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  admitted INTEGER NOT NULL DEFAULT 0,
  started INTEGER NOT NULL DEFAULT 0,
  ended INTEGER NOT NULL DEFAULT 0,
  ended_unstarted INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO turn_totals (one) VALUES (1);
`,
};
