import type { Client } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";

import { createServeRooms } from "../../src/gateway/createServeRooms.js";
import type { Gateway } from "../../src/gateway/gateway.js";
import { startGateway } from "../../src/gateway/gateway.js";
import { HealthService } from "../../src/gen/grpc/health/v1/health.js";
import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { PeerServiceService } from "../../src/gen/talaria/dm/v1/peer_service.js";
import { AdminServiceService, ProofFactor } from "../../src/gen/talaria/gateway/v1/admin_service.js";
import { AgentServiceService } from "../../src/gen/talaria/gateway/v1/agent_service.js";
import {
  RunTurnRequest,
  TurnPhase,
  TurnServiceService,
  type SessionUpdate,
} from "../../src/gen/talaria/gateway/v1/turn_service.js";
import { TurnOutcome } from "../../src/gen/talaria/types/v1/result.js";
import { createClient } from "../../src/rpc/clients/connectClient.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import type { Identity } from "../../src/rpc/tls/identityKey.js";
import { leafSource } from "../../src/rpc/tls/leafCertificate.js";
import { parsePin } from "../../src/rpc/tls/pin.js";
import { pinnedCredentials } from "../../src/rpc/tls/pinnedCredentials.js";
import { temporaryHome, useClientOf } from "./useGateway.js";

const refused = (reason: string): Error => expect.objectContaining({ reason }) as Error;

async function useServed(config = ""): Promise<{ readonly gateway: Gateway; readonly client: Client }> {
  const gateway = await startGateway({ home: temporaryHome(config) }, createServeRooms);
  onTestFinished(() => gateway.close());
  return { gateway, client: useClientOf(gateway.addresses.clientSocket) };
}

function runTurn(client: Client, text: string): AsyncIterable<{ readonly update: SessionUpdate | undefined }> {
  const request = RunTurnRequest.fromPartial({
    requestId: `k${String(Math.random()).slice(2)}`,
    target: { $case: "agent", value: "main" },
    text,
    headless: true,
  });
  return readStream(client, TurnServiceService.runTurn, request);
}

test("a turn runs in a proved worker that operators can see", async () => {
  const { client } = await useServed();
  let seen = 0;
  let outcome: TurnOutcome | undefined;
  for await (const { update } of runTurn(client, "!sleep 500\nrested")) {
    const change = update?.update;
    if (change?.$case === "phaseChanged" && change.value.phase === TurnPhase.TURN_PHASE_RUNNING) {
      const { workers } = await unaryCall(client, AdminServiceService.listWorkers, {});
      const worker = workers.find(({ executionId }) => executionId === change.value.executionId);
      expect(worker).toMatchObject({ agent: "main", phase: TurnPhase.TURN_PHASE_RUNNING });
      expect(worker?.evidence?.factors).toContain(ProofFactor.PROOF_FACTOR_TOKEN);
      expect(worker?.evidence?.factors).toContain(ProofFactor.PROOF_FACTOR_PROCESS_TABLE);
      expect(worker?.residentBytes).toBeGreaterThan(1_000_000n);
      seen += 1;
    }
    if (change?.$case === "turnEnded") outcome = change.value.turn?.outcome;
  }
  expect([seen, outcome]).toEqual([1, TurnOutcome.TURN_OUTCOME_COMPLETED]);
  const { turns } = await unaryCall(client, AdminServiceService.getStatus, {});
  expect(turns).toEqual({ admitted: 1n, queued: 0n, running: 0n, ended: 1n });
});

test("a second gateway's messages are counted, and its agents are teammates", async () => {
  const { client } = await useServed(
    "peers: { east: { address: '127.0.0.1:1', pin: PIN } }\n".replace("PIN", await aPin()),
  );
  const { teammates, fingerprint } = await unaryCall(client, AgentServiceService.listTeammates, { agent: "" });
  expect(teammates.map(({ address, gateway }) => [address, gateway])).toEqual([
    ["main", ""],
    ["east", "east"],
  ]);
  expect(fingerprint).toMatch(/^[0-9a-f]{12}$/);
  await unaryCall(client, DirectMessageServiceService.sendDirectMessage, {
    requestId: "m1",
    target: "east",
    body: "Hello",
    inReplyTo: "",
    onBehalfOf: "",
    trace: undefined,
  });
  const { destinations } = await unaryCall(client, AdminServiceService.listDestinations, {});
  expect(destinations.map(({ name, waiting, claimed }) => [name, waiting, claimed])).toEqual([["east", 1n, 0n]]);
  const { deliveries } = await unaryCall(client, AdminServiceService.getStatus, {});
  expect(deliveries).toEqual({ accepted: 1n, queued: 1n, claimed: 0n, ended: 0n });
});

test("the peer listener serves paired keys; an unknown one may look at health and no more", async () => {
  const [known, unknown] = await Promise.all([ephemeralIdentity(Date.now()), ephemeralIdentity(Date.now())]);
  const { gateway } = await useServed(
    `listeners: { peers: { host: 127.0.0.1, port: 0 } }\npeers: { east: { address: '127.0.0.1:1', pin: '${known.pin}' } }\n`,
  );
  const friend = await peerClient(gateway, known);
  const { entries } = await unaryCall(friend, PeerServiceService.listRoster, { caller: undefined, fingerprint: "" });
  expect(entries.map(({ handle }) => handle)).toEqual(["main"]);
  const stranger = await peerClient(gateway, unknown);
  await expect(
    unaryCall(stranger, PeerServiceService.listRoster, { caller: undefined, fingerprint: "" }),
  ).rejects.toThrow(refused("PEER_KEY_UNKNOWN"));
  await expect(unaryCall(stranger, HealthService.check, { service: "" })).resolves.toBeDefined();
  await expect(unaryCall(friend, AdminServiceService.getStatus, {})).rejects.toThrow(refused("UNIMPLEMENTED"));
});

test.each([
  ["an empty body", "  ", "EMPTY_BODY"],
  ["a body of 16,001 code points", "é".repeat(16_001), "BODY_TOO_LONG"],
])("%s is refused and leaves no trace", async (_, body, reason) => {
  const { client } = await useServed();
  const message = { requestId: "m1", target: "main", body, inReplyTo: "", onBehalfOf: "", trace: undefined };
  await expect(unaryCall(client, DirectMessageServiceService.sendDirectMessage, message)).rejects.toThrow(
    refused(reason),
  );
  const { deliveries } = await unaryCall(client, AdminServiceService.getStatus, {});
  expect(deliveries?.accepted).toBe(0n);
});

async function aPin(): Promise<string> {
  return (await ephemeralIdentity(Date.now())).pin;
}

async function peerClient(gateway: Gateway, identity: Identity): Promise<Client> {
  const serverPin = parsePin(gateway.pin);
  if (serverPin === undefined) throw new Error("no pin");
  const leaves = await leafSource(identity, () => Date.now());
  const client = createClient({
    address: gateway.addresses.peers ?? "",
    purpose: "tcp",
    ownConnection: true,
    credentials: pinnedCredentials({ leaves, serverPin, now: () => Date.now() }),
  });
  onTestFinished(() => {
    client.close();
  });
  return client;
}
