import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { homePaths } from "../../src/base/home.js";
import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { HealthCheckResponse_ServingStatus, HealthService } from "../../src/gen/grpc/health/v1/health.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { talaria } from "../cli/useTalaria.js";
import { ended, send, stateName } from "../dm/calls.js";
import type { ServeProcess } from "../kit/serveProcess.js";
import { refusalOf } from "../kit/turnClient.js";
import { useServe } from "../kit/useServe.js";

const fixture = useServe();
const agents = { main: { runtime: "echo", main: true }, bob: { runtime: "echo" } };

/** What a gateway has recorded of calls that were to change something. */
const auditOf = (home: string): readonly Record<string, unknown>[] =>
  readFileSync(join(homePaths(home).logsDir, "audit.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Whether health says that a gateway serves. */
async function serves(gateway: ServeProcess): Promise<boolean> {
  const { status } = await unaryCall(gateway.connect().client, HealthService.check, { service: "" });
  return status === HealthCheckResponse_ServingStatus.SERVING;
}

test("AR-7 it is recorded who sent a failed message again, also where that was refused, and never what it said", async () => {
  const home = fixture.home({}, { agents });
  const { client } = (await fixture.serve(home)).connect();
  const failing = { target: "bob", requestId: "the-key", body: "!fail PROVIDER_QUOTA in-so-many-words" };
  const { deliveryId } = (await send(client, failing)).delivery;
  expect(stateName(await ended(client, deliveryId))).toBe("FAILED");
  const { redriveDelivery } = DirectMessageServiceService;
  await unaryCall(client, redriveDelivery, { requestId: "again", deliveryId });
  expect(await ended(client, deliveryId)).toMatchObject({ deliveryId, key: "the-key", attemptEpoch: 2 });
  const { deliveryId: fine } = (await send(client, { target: "bob", body: "fine" })).delivery;
  await ended(client, fine);
  const refused = unaryCall(client, redriveDelivery, { requestId: "once-more", deliveryId: fine });
  expect(await refusalOf(refused)).toBe("DELIVERY_NOT_DEAD");
  const redriven = auditOf(home).filter(({ what }) => what === redriveDelivery.path);
  const who = { who: "client:socket", role: "operator", from: "unix", uid: process.getuid?.(), pid: process.pid };
  expect(redriven).toMatchObject([
    { ...who, outcome: "OK" },
    { ...who, outcome: "DELIVERY_NOT_DEAD" },
  ]);
  expect(JSON.stringify(auditOf(home))).not.toContain("in-so-many-words");
});

test("DA-2 a gateway whose home is held ends with the reason and its holder, and the holder goes on serving", async () => {
  const home = fixture.home({}, { agents });
  const holder = await fixture.serve(home);
  const second = await talaria("--home", home, "serve");
  expect(second).toMatchObject({ code: 76, stdout: "" });
  expect(second.stderr).toMatch(/^HOME_LOCKED: /);
  expect(second.stderr).toContain(String(holder.pid));
  expect(await serves(holder)).toBe(true);
});

test("DA-2 a peer that is away at the start is named in the log as it is by default, and keeps nobody from being served", async () => {
  const listeners = { peers: { host: "127.0.0.1", port: 0 } };
  const homeOf = (name: string): string => fixture.home({}, { agents, config: { name, listeners } });
  const [north, south] = [homeOf("north"), homeOf("south")];
  const [first, peer] = await Promise.all([fixture.serve(north), fixture.serve(south)]);
  const code = (await talaria("--home", south, "peers", "invite")).stdout.trim();
  expect((await talaria("--home", north, "peers", "join", code)).code).toBe(0);
  await Promise.all([first.kill(), peer.kill()]);

  const again = await fixture.serve(north);
  const said = await again.log.first("word of the peer", (line) => line.includes("the peer cannot be reached"));
  expect(JSON.parse(said)).toMatchObject({ gateway: "south", reason: "UNAVAILABLE" });
  expect(await serves(again)).toBe(true);
  const { client } = again.connect();
  const { delivery } = await send(client, { target: "bob", body: "meanwhile" });
  expect((await ended(client, delivery.deliveryId)).reply?.text).toBe("meanwhile");
  expect((await talaria("--home", north, "destinations")).stdout).toMatch(/^south .*UNAVAILABLE/m);
});
