import { expect, test } from "vitest";

import type { Delivery } from "../../src/gen/talaria/dm/v1/delivery.js";
import { reasonOfNumber } from "../../src/rpc/reasons.js";
import { ended, get, send, stateName, watchToEnd } from "../dm/calls.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitFor } from "../kit/waitFor.js";

const echo = { runtime: "echo" };
const gateway = useTestGateway({
  agents: {
    alice: { ...echo, main: true },
    gone: { runtime: "command", worker: { command: ["/nowhere/worker"] } },
    hasty: { ...echo, limits: { turn_limit_ms: 900 } },
  },
});
const client = () => gateway().client.client;
const failureOf = ({ failure }: Delivery): string => reasonOfNumber(failure?.reason ?? 0) ?? "";

/** What alice was told of a delivery, once it has been told. */
const told = (deliveryId: string): Promise<readonly string[]> =>
  waitFor("alice is told", () => {
    const rows = gateway().rows<{ text: string }>("SELECT text FROM inputs WHERE in_reply_to = ?", deliveryId);
    return rows.length === 0 ? { state: rows } : { found: rows.map(({ text }) => text) };
  });

test("DM-R01 to an agent whose worker cannot be started: queued, then failed with a reason, and never delivered", async () => {
  const { delivery } = await send(client(), { requestId: "r01", target: "gone", onBehalfOf: "alice" });
  expect(stateName(delivery)).toBe("QUEUED");
  const steps = await watchToEnd(client(), delivery.deliveryId);
  const states = new Set(steps.map(({ delivery: step }) => (step === undefined ? "" : stateName(step))));
  expect(states).not.toContain("REPLIED");
  expect(states).not.toContain("SILENT");
  const end = await ended(client(), delivery.deliveryId);
  expect(stateName(end)).toBe("FAILED");
  expect(failureOf(end)).toBe("WORKER_SPAWN_FAILED");
  expect(await told(delivery.deliveryId)).toEqual([
    expect.stringMatching(/was not delivered\..*\[WORKER_SPAWN_FAILED\]/s),
  ]);
});

test("DM-R06 a recipient that is busy is waited for, and one that is over its time is told as that", async () => {
  const long = await send(client(), { requestId: "r06-1", target: "hasty", body: "!sleep 60000", onBehalfOf: "alice" });
  const next = await send(client(), { requestId: "r06-2", target: "hasty", body: "next" });
  const waiting = await get(client(), next.delivery.deliveryId);
  expect([stateName(waiting), waiting.failure]).toEqual(["QUEUED", undefined]);
  const end = await ended(client(), long.delivery.deliveryId);
  expect([stateName(end), failureOf(end)]).toEqual(["FAILED", "TURN_LIMIT"]);
  expect(await told(long.delivery.deliveryId)).toEqual([expect.stringContaining("[TURN_LIMIT]")]);
  expect((await ended(client(), next.delivery.deliveryId)).reply?.text).toBe("next");
});
