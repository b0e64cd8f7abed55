import type { Migration } from "./migration.js";

/**
 * Indexes of deliveries that have not ended say so by the time of their end, which only an end changes: by the state, every move between
 * two open states took their entries out and put them in again, those of the digests in a page each.
 */
export const m0009OpenDeliveries: Migration = {
  version: 9,
  name: "open-deliveries",
  sql: `
DROP INDEX deliveries_expiry;
CREATE INDEX deliveries_expiry ON deliveries (expires_at) WHERE ended_at IS NULL;
DROP INDEX deliveries_open_digest;
CREATE INDEX deliveries_open_digest ON deliveries (principal_scope, digest)
  WHERE ended_at IS NULL AND route IN ('local', 'peer_outbound', 'relay_outbound');
`,
};
