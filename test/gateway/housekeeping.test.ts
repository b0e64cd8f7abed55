import { expect, test } from "vitest";

import { type Clock, systemClock } from "../../src/base/clock.js";
import { DAY_MS } from "../../src/base/utcDay.js";
import { ListSessionsRequest, SessionServiceService } from "../../src/gen/talaria/gateway/v1/session_service.js";
import { FIRST_ROUND_MS, ROUND_MS } from "../../src/gateway/storage/housekeeping.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { send } from "../dm/calls.js";
import { refusalOf, sessionOf } from "../kit/turnClient.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitFor } from "../kit/waitFor.js";

/** Real time, but for how far wall time is ahead, and for rounds, which come all the time. */
const ahead = { ms: 0 };
const clock: Clock = {
  now: () => systemClock.now() + ahead.ms,
  monotonic: () => systemClock.monotonic(),
  after: (ms, run) => systemClock.after(ms === FIRST_ROUND_MS || ms === ROUND_MS ? 20 : ms, run),
};
const gateway = useTestGateway({ clock, budgets: { sessionRetentionMs: 10 * DAY_MS } });

test("where a file says so, a session that was idle for long goes with its transcript, and its viewers are told", async () => {
  const { client, rows } = gateway();
  const run = client.run("echo", "old words");
  await run.outcome();
  const sessionId = await sessionOf(run);
  await send(client.client, { target: "agent:echo", body: "to the canonical session" });
  await waitFor("nothing runs", () => {
    const state = rows("SELECT session_id FROM sessions WHERE running_execution_id IS NOT NULL");
    return state.length === 0 && rows("SELECT 1 FROM inputs WHERE state <> 'ended'").length === 0
      ? { found: true }
      : { state };
  });
  const watch = client.watch(sessionId);
  await watch.next("snapshot");
  ahead.ms = 9 * DAY_MS;
  const recent = await sessionOf(client.run("echo", "recent words"));
  ahead.ms = 11 * DAY_MS;
  await watch.next("sessionDeleted");
  const { sessions } = await unaryCall(
    client.client,
    SessionServiceService.listSessions,
    ListSessionsRequest.fromPartial({}),
  );
  expect(sessions.map(({ title, sessionId: id }) => (title === "Bot Chat" ? title : id)).sort()).toEqual(
    ["Bot Chat", recent].sort(),
  );
  expect(rows("SELECT text FROM messages WHERE text LIKE 'old words'")).toEqual([]);
  expect(await refusalOf(client.say(sessionId, "more"))).toBe("UNKNOWN_SESSION");
  await waitFor("records that are old have gone", () => {
    ahead.ms = 60 * DAY_MS;
    const state = rows("SELECT 1 FROM launches WHERE gone_at IS NOT NULL");
    return state.length === 0 ? { found: true } : { state };
  });
});
