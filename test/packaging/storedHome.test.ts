import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { type Clock, systemClock } from "../../src/base/clock.js";
import { homePaths } from "../../src/base/home.js";
import { DeliveryState } from "../../src/gen/talaria/dm/v1/delivery.js";
import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { AdminServiceService } from "../../src/gen/talaria/gateway/v1/admin_service.js";
import { SessionServiceService } from "../../src/gen/talaria/gateway/v1/session_service.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { openDatabase } from "../../src/store/database.js";
import { schemaVersion } from "../../src/store/migrate.js";
import { migrations } from "../../src/store/migrations/index.js";
import { writeHome } from "../kit/homeFiles.js";
import { startTestGateway } from "../kit/testGateway.js";
import { waitUntil } from "../kit/waitFor.js";

// What an earlier version wrote, not what this one makes of that version's schema: test/packaging/fixtures.

/** A moment soon after the fixture was left, before anything in it expires. */
const AFTER_MS = Date.UTC(2026, 10, 29, 22, 35);

/** The home as it was left. */
function storedHome(): string {
  const home = writeHome({
    agents: { main: { title: "Main", main: true, runtime: "echo" } },
    config: { peers: { east: { address: "127.0.0.1:1", pin: `sha256:${Buffer.alloc(32, 7).toString("base64url")}` } } },
  });
  onTestFinished(() => {
    rmSync(home, { recursive: true, force: true });
  });
  const database = openDatabase(homePaths(home).database);
  database.exec(readFileSync(join(import.meta.dirname, "fixtures", "storeVersion6.sql"), "utf8"));
  expect(schemaVersion(database)).toBe(6);
  database.close();
  return home;
}

test("a home that version 6 left in the middle of its work goes on where it was", async () => {
  const shift = AFTER_MS - systemClock.now();
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + shift };
  const gateway = await startTestGateway({ home: storedHome(), clock });
  onTestFinished(() => gateway.close());
  const { client, rows } = gateway;
  const call = client.client;
  expect(rows("PRAGMA user_version")).toEqual([{ user_version: migrations.length }]);
  expect(rows("PRAGMA foreign_key_check")).toEqual([]);

  // The conversations are there, and what was used is counted on its day, the turn in doubt included.
  const list = { agent: "", pageSize: 0, pageToken: "", states: [], parentSessionId: "" };
  const { sessions } = await unaryCall(call, SessionServiceService.listSessions, list);
  const titled = (title: string) => sessions.find((session) => session.title === title);
  const notes = titled("notes")?.sessionId ?? "";
  const transcript = await unaryCall(call, SessionServiceService.readTranscript, {
    sessionId: notes,
    pageSize: 0,
    pageToken: "",
  });
  expect(transcript.messages.map(({ text }) => text)).toEqual([
    "!usage 11 7 0.25\nRemember the plan",
    "Remember the plan",
  ]);
  const { usage } = await unaryCall(call, AdminServiceService.listUsage, {
    agent: "main",
    sinceDay: "2026-11-29",
    pageSize: 0,
    pageToken: "",
  });
  expect(usage).toMatchObject([{ day: "2026-11-29", inputTokens: 11n, outputTokens: 7n, turns: 5n, notCompleted: 3n }]);

  // The turn that ran is in doubt; the input behind it waits for a person, and then runs.
  const doubtful = titled("doubtful");
  expect(doubtful?.pausedBehindExecutionId).toMatch(/^exe_/);
  await client.acknowledge(doubtful?.sessionId ?? "", doubtful?.pausedBehindExecutionId ?? "");
  const last = () =>
    rows<{ role: string; text: string }>(
      "SELECT role, text FROM messages WHERE session_id = ? ORDER BY row DESC LIMIT 1",
      doubtful?.sessionId ?? "",
    );
  await waitUntil(
    "the input behind it is answered",
    () => JSON.stringify(last()) === '[{"role":"assistant","text":"And then?"}]',
    last,
  );

  // Each message stands where it stood.
  const request = { pageSize: 0, pageToken: "", states: [], agent: "", gateway: "" };
  const { deliveries } = await unaryCall(call, DirectMessageServiceService.listDeliveries, request);
  const [waiting, dead, replied] = deliveries;
  expect([waiting?.state, dead?.state, replied?.state]).toEqual([
    DeliveryState.DELIVERY_STATE_QUEUED,
    DeliveryState.DELIVERY_STATE_FAILED,
    DeliveryState.DELIVERY_STATE_REPLIED,
  ]);
  const { delivery } = await unaryCall(call, DirectMessageServiceService.redriveDelivery, {
    requestId: "again",
    deliveryId: dead?.deliveryId ?? "",
  });
  expect(delivery?.attemptEpoch).toBe(2);

  // The totals add up, those from before included.
  const status = await unaryCall(call, AdminServiceService.getStatus, {});
  const { accepted = 0n, queued = 0n, claimed = 0n, ended = 0n } = status.deliveries ?? {};
  expect(accepted).toBe(queued + claimed + ended);
  expect(await client.run("main", "it works").outcome()).toMatchObject({ answer: "it works" });
});
