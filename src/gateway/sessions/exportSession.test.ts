import { expect, test } from "vitest";

import { Session } from "../../gen/talaria/gateway/v1/session.js";
import type { Queryable } from "../../store/sql.js";
import { exportSession } from "./exportSession.js";

/** Reads the export of a session without turns and rows, that is there or was deleted while it went out. */
async function readExport(there: boolean): Promise<number> {
  const reader = { all: () => [], get: () => (there ? {} : undefined) } as unknown as Queryable;
  const parts = exportSession(Session.fromPartial({ sessionId: "ses" }), reader, { turnsOf: () => [] });
  let count = 0;
  while ((await parts.next()).done !== true) count += 1;
  return count;
}

test("an export whose session was deleted meanwhile fails, since what has gone out is not the whole", async () => {
  expect(await readExport(true)).toBe(1);
  await expect(readExport(false)).rejects.toMatchObject({ reason: "UNKNOWN_SESSION" });
});
