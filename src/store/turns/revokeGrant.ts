import { defineCommand } from "../command.js";

/** Takes a grant back; false where there is none. */
export const revokeGrant = defineCommand({
  name: "grant.revoke",
  run: (tx, { grantId }: { readonly grantId: string }): boolean =>
    tx.run("DELETE FROM grants WHERE grant_id = ?", grantId).changes > 0,
});
