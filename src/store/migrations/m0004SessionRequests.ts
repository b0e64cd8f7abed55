import type { Migration } from "./migration.js";

/** Requests that created, reset or deleted a session, so that a repeated one changes nothing. */
export const m0004SessionRequests: Migration = {
  version: 4,
  name: "session requests",
  sql: `
CREATE TABLE session_requests (
  principal TEXT NOT NULL,
  method TEXT NOT NULL,
  request_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  session_id TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  PRIMARY KEY (principal, method, request_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_requests_age ON session_requests (made_at);
`,
};
