import { expect, onTestFinished, test } from "vitest";

import { createServeRooms } from "../../src/gateway/createServeRooms.js";
import type { Gateway } from "../../src/gateway/gateway.js";
import { startGateway } from "../../src/gateway/gateway.js";
import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { SendDirectMessageRequest } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { AdminServiceService } from "../../src/gen/talaria/gateway/v1/admin_service.js";
import { RunTurnRequest, TurnPhase, TurnServiceService } from "../../src/gen/talaria/gateway/v1/turn_service.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { TurnClient } from "../kit/turnClient.js";
import { waitFor } from "../kit/waitFor.js";
import { temporaryHome, useClientOf } from "./useGateway.js";

const CONFIG = "listeners: { metrics: { port: 0 } }\n";

async function useMeasured(home = temporaryHome(CONFIG)): Promise<Gateway> {
  const gateway = await startGateway({ home }, createServeRooms);
  onTestFinished(() => gateway.close());
  return gateway;
}

async function runTurn(gateway: Gateway, text: string): Promise<void> {
  const client = useClientOf(gateway.addresses.clientSocket);
  const request = { requestId: `k${String(Math.random()).slice(2)}`, text, headless: true };
  const target = { $case: "agent" as const, value: "main" };
  for await (const _ of readStream(
    client,
    TurnServiceService.runTurn,
    RunTurnRequest.fromPartial({ ...request, target }),
  ));
}

/** The page as a map from series to value. */
async function scrape(gateway: Gateway): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(gateway.addresses.metrics ?? "");
  expect([response.status, response.headers.get("content-type")?.split(";")[0]]).toEqual([200, "text/plain"]);
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

function sumOf(page: ReadonlyMap<string, number>, name: string): number {
  return [...page].filter(([series]) => series.startsWith(`${name}{`)).reduce((sum, [, value]) => sum + value, 0);
}

test("what was counted adds up, and goes on after a restart", async () => {
  const home = temporaryHome(CONFIG);
  const first = await useMeasured(home);
  await runTurn(first, "hello");
  await runTurn(first, "!fail PROVIDER_QUOTA spent");
  const client = useClientOf(first.addresses.clientSocket);
  await unaryCall(
    client,
    DirectMessageServiceService.sendDirectMessage,
    SendDirectMessageRequest.fromPartial({ requestId: "m1", target: "main", body: "hi" }),
  );
  const before = await scrape(first);
  expect(before.get("talaria_turns_admitted_total")).toBe(3);
  expect(before.get('talaria_turns_ended_total{outcome="failed",reason="PROVIDER_QUOTA"}')).toBe(1);
  expect(before.get("talaria_turns_admitted_total")).toBe(
    sumOf(before, "talaria_turns_ended_total") + sumOf(before, "talaria_turns"),
  );
  expect(before.get("talaria_deliveries_accepted_total")).toBe(1);
  expect(before.get("talaria_deliveries_accepted_total")).toBe(sumOf(before, "talaria_deliveries"));
  expect(before.get("talaria_store_commit_commands_count")).toBeGreaterThan(0);
  expect(before.get("talaria_loop_delay_p99_seconds")).toBeGreaterThanOrEqual(0);
  await first.drain(5_000);

  const page = await scrape(await useMeasured(home));
  expect(page.get("talaria_turns_admitted_total")).toBe(3);
  expect(sumOf(page, "talaria_turns_ended_total") + sumOf(page, "talaria_turns")).toBe(3);
  expect(page.get("talaria_epoch")).toBe(2);
});

test("attempts at a gateway that cannot be reached are counted, over restarts too", async () => {
  const pin = `sha256:${Buffer.alloc(32, 7).toString("base64url")}`;
  const peers = `peers: { east: { address: "127.0.0.1:1", pin: "${pin}" } }\nbudgets: { peer_retry_max_ms: 1000 }\n`;
  const home = temporaryHome(`${CONFIG}${peers}`);
  const first = await useMeasured(home);
  const request = SendDirectMessageRequest.fromPartial({ requestId: "m1", target: "east", body: "hi" });
  const client = useClientOf(first.addresses.clientSocket);
  await unaryCall(client, DirectMessageServiceService.sendDirectMessage, request);
  const failed = "talaria_delivery_attempts_failed_total";
  const counted = async (gateway: Gateway, least: number): Promise<number> =>
    waitFor(`${String(least)} attempts have failed`, async () => {
      const state = (await scrape(gateway)).get(failed) ?? 0;
      return state >= least ? { found: state } : { state };
    });
  const before = await counted(first, 2);
  await first.drain(0);
  await counted(await useMeasured(home), before + 1);
});

test("turns of any kind are counted once, by their end and in the phases that they came to", async () => {
  const gateway = await useMeasured(temporaryHome(`${CONFIG}workers: { pool_size: 0, max: 4 }\n`));
  const client = new TurnClient(gateway.addresses.clientSocket);
  onTestFinished(() => {
    client.close();
  });
  const texts = ["hello", "!fail PROVIDER_QUOTA spent", "!crash", "!child one | two", "!sleep 60000", "!usage 1 1"];
  const runs = texts.map((text) => client.run("main", text));
  const stopped = runs[4];
  await stopped?.reached(TurnPhase.TURN_PHASE_RUNNING);
  const behind = client.say((await stopped?.next("inputQueued"))?.turn?.sessionId ?? "", "never starts");
  await client.cancelInput((await behind.next("inputQueued")).turn?.inputId ?? "");
  await client.stop((await stopped?.started()) ?? "");
  await Promise.all([...runs, behind].map((run) => run.outcome()));

  const phase = (page: ReadonlyMap<string, number>, name: string): number =>
    page.get(`talaria_turn_phase_duration_seconds_count{phase="${name}"}`) ?? 0;
  // Six turns and two children have started; a turn is timed when nothing of it is left.
  const page = await waitFor("every turn is timed", async () => {
    const state = await scrape(gateway);
    return phase(state, "queued") === 8
      ? { found: state }
      : { state: [...state].filter(([name]) => name.includes("turn")) };
  });
  expect(["launch", "adopt", "running", "settle"].map((name) => phase(page, name))).toEqual([8, 8, 8, 8]);
  expect(page.get("talaria_turns_admitted_total")).toBe(9);
  expect(sumOf(page, "talaria_turns_ended_total")).toBe(9);
  expect(sumOf(page, "talaria_turns")).toBe(0);
  expect(page.get('talaria_turns_ended_total{outcome="cancelled",reason=""}')).toBe(1);
  expect(page.get('talaria_turns_ended_total{outcome="interrupted",reason="TURN_STOPPED"}')).toBe(1);
});

test("calls are counted by method and status; one that nobody serves makes no series", async () => {
  const gateway = await useMeasured();
  const client = useClientOf(gateway.addresses.clientSocket);
  await unaryCall(client, AdminServiceService.getStatus, {});
  await expect(
    unaryCall(client, DirectMessageServiceService.getDelivery, { deliveryId: "dlv_00000000000000000000000000" }),
  ).rejects.toMatchObject({ reason: "UNKNOWN_DELIVERY" });
  const unserved = { ...AdminServiceService.getStatus, path: "/talaria.nobody.v1.Nobody/Call" as never };
  await expect(unaryCall(client, unserved, {})).rejects.toMatchObject({ reason: "UNIMPLEMENTED" });
  const page = await scrape(gateway);
  const count = (method: string, code: string): number | undefined =>
    page.get(
      `rpc_server_call_duration_seconds_count{rpc_system_name="grpc",rpc_method="${method}",rpc_response_status_code="${code}"}`,
    );
  expect(count("talaria.gateway.v1.AdminService/GetStatus", "OK")).toBe(1);
  expect(count("talaria.dm.v1.DirectMessageService/GetDelivery", "NOT_FOUND")).toBe(1);
  expect([...page.keys()].filter((series) => series.includes("nobody"))).toEqual([]);
});

test("there is one page and one way to ask for it", async () => {
  const gateway = await useMeasured();
  const url = gateway.addresses.metrics ?? "";
  expect((await fetch(url.replace("/metrics", "/"))).status).toBe(404);
  expect((await fetch(url, { method: "POST", body: "x" })).status).toBe(405);
  expect(await (await fetch(url, { method: "HEAD" })).text()).toBe("");
});

test("a taken port ends the start with its reason; without the setting there is no page", async () => {
  const gateway = await useMeasured();
  const port = new URL(gateway.addresses.metrics ?? "").port;
  const home = temporaryHome(`listeners: { metrics: { port: ${port} } }\n`);
  await expect(startGateway({ home }, createServeRooms)).rejects.toMatchObject({ reason: "ADDRESS_IN_USE" });
  expect((await useMeasured(temporaryHome())).addresses.metrics).toBeUndefined();
});
