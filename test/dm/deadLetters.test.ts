import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { AdminServiceService, type WatchEventsResponse } from "../../src/gen/talaria/gateway/v1/admin_service.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { reasonOfNumber } from "../../src/rpc/reasons.js";
import { StreamLog } from "../kit/streamLog.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitUntil } from "../kit/waitFor.js";
import { ended, send } from "./calls.js";

const folder = mkdtempSync(join(tmpdir(), "dl-"));
const notified = join(folder, "notified");
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const gateway = useTestGateway({
  agents: { alice: { runtime: "echo", main: true }, bob: { runtime: "echo" } },
  config: { notify_command: ["sh", "-c", `cat >> ${notified}`] },
});

const notifications = (): readonly unknown[] => {
  try {
    return readFileSync(notified, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line): unknown => JSON.parse(line));
  } catch {
    return [];
  }
};

test("operators hear of each dead letter once in each attempt epoch, and of nothing else, without its body", async () => {
  const { client } = gateway().client;
  const events = new StreamLog<WatchEventsResponse>(({ event }) => event?.$case);
  const stream = readStream(client, AdminServiceService.watchEvents, { cursor: undefined });
  events.follow(stream);
  const fine = (await send(client, { target: "bob", body: "fine" })).delivery;
  await ended(client, fine.deliveryId);
  const { delivery } = await send(client, { target: "bob", body: "!fail PROVIDER_QUOTA spent" });
  await ended(client, delivery.deliveryId);
  const seen = (): readonly string[] =>
    events.items.flatMap(({ event }) =>
      event?.$case === "deadLetter" ? [event.value.delivery?.deliveryId ?? ""] : [],
    );
  const { event } = await events.first("dead letter", (one) => one.event?.$case === "deadLetter");
  const told = event?.$case === "deadLetter" ? event.value.delivery : undefined;
  expect(told).toMatchObject({ deliveryId: delivery.deliveryId, body: "", attemptEpoch: 1 });
  expect(reasonOfNumber(told?.failure?.reason ?? 0)).toBe("PROVIDER_QUOTA");

  const redrive = { requestId: "again", deliveryId: delivery.deliveryId };
  await unaryCall(client, DirectMessageServiceService.redriveDelivery, redrive);
  await events.until("two dead letters", () => (seen().length === 2 ? true : undefined));
  expect(seen()).toEqual([delivery.deliveryId, delivery.deliveryId]);
  const notification = {
    kind: "dead_letter",
    deliveryId: delivery.deliveryId,
    recipient: "bob",
    reason: "PROVIDER_QUOTA",
  };
  await waitUntil(
    "two notifications",
    () => notifications().length === 2,
    () => JSON.stringify(notifications()),
  );
  expect(notifications()).toEqual([notification, notification]);
  stream.cancel();
});
