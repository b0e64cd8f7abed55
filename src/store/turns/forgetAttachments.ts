import { defineCommand } from "../command.js";

/** Forgets attachments that no input has: those whose inputs were deleted, and those that no input was given until `unusedBefore`. */
export const forgetAttachments = defineCommand<{ readonly unusedBefore: number }, { readonly forgotten: number }>({
  name: "attachment.forget",
  run(tx, { unusedBefore }) {
    const { changes } = tx.run(
      `DELETE FROM attachments WHERE (used = 1 OR created_at < ?)
         AND NOT EXISTS (SELECT 1 FROM input_attachments WHERE attachment_id = attachments.attachment_id)`,
      unusedBefore,
    );
    return { forgotten: changes };
  },
});
