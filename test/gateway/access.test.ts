import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

import { createClientToken, readClientTokens, revokeClientToken } from "../../src/base/clientTokens.js";
import { systemClock } from "../../src/base/clock.js";
import { readProcess } from "../../src/base/processTable.js";
import { systemRandom } from "../../src/base/random.js";
import { HealthService } from "../../src/gen/grpc/health/v1/health.js";
import { AdminServiceService } from "../../src/gen/talaria/gateway/v1/admin_service.js";
import { SessionServiceService } from "../../src/gen/talaria/gateway/v1/session_service.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { idleRooms, temporaryHome, useClientOf, useGateway } from "./useGateway.js";

const ports = { clock: systemClock, random: systemRandom };
const refused = (reason: string): Error => expect.objectContaining({ reason }) as Error;
const bearer = (token: string) => ({ metadata: { authorization: `Bearer ${token}` } });

async function useTcpGateway() {
  const home = temporaryHome("listeners: { client_tcp: { port: 0 } }\n");
  const { gateway } = await useGateway({ home });
  return { client: useClientOf(gateway.addresses.clientTcp ?? ""), file: join(home, "client-tokens.yaml") };
}

test("over TCP a call needs a token, health does not", async () => {
  const { client } = await useTcpGateway();
  await expect(unaryCall(client, AdminServiceService.getStatus, {})).rejects.toThrow(refused("UNAUTHENTICATED"));
  await expect(unaryCall(client, AdminServiceService.getStatus, {}, bearer("tal_x"))).rejects.toThrow(
    refused("TOKEN_INVALID"),
  );
  await expect(unaryCall(client, HealthService.check, { service: "" })).resolves.toBeDefined();
});

test("a token works from its making to its revocation, with no restart", async () => {
  const { client, file } = await useTcpGateway();
  const token = createClientToken(file, { name: "ci", role: "reader" }, ports);
  await expect(unaryCall(client, AdminServiceService.getStatus, {}, bearer(token))).resolves.toBeDefined();
  await expect(
    unaryCall(client, AdminServiceService.drain, { requestId: "x", budget: undefined }, bearer(token)),
  ).rejects.toThrow(refused("PERMISSION_DENIED"));
  const watched = readStream(client, AdminServiceService.watchEvents, { cursor: undefined }, bearer(token))[
    Symbol.asyncIterator
  ]();
  const watching = (async () => {
    while (!(await watched.next()).done);
  })();
  // Behind the watch on its connection: when it is answered, the watch was let in.
  await unaryCall(client, AdminServiceService.getStatus, {}, bearer(token));
  revokeClientToken(file, "ci");
  expect(readClientTokens(file)).toEqual([]);
  await expect(watching).rejects.toThrow(refused("UNAVAILABLE"));
  await expect(unaryCall(client, AdminServiceService.getStatus, {}, bearer(token))).rejects.toThrow(
    refused("TOKEN_INVALID"),
  );
});

test("a client may create sessions and not delete them", async () => {
  const { client, file } = await useTcpGateway();
  const as = bearer(createClientToken(file, { name: "app", role: "client" }, ports));
  const request = { requestId: "c1", agent: "main", title: "", onUnknown: 0, ...{ ignoreRules: false } } as const;
  const { session } = await unaryCall(
    client,
    SessionServiceService.createSession,
    { ...request, safeMode: false, ignoreUserConfig: false },
    as,
  );
  await expect(
    unaryCall(client, SessionServiceService.deleteSession, { requestId: "d", sessionId: session?.sessionId ?? "" }, as),
  ).rejects.toThrow(refused("PERMISSION_DENIED"));
});

test("a process that descends from a worker gets health and nothing else", async () => {
  const workers: { pid: number; birthTicks: bigint; processGroup: number }[] = [];
  const { gateway, client } = await useGateway({
    rooms: () => {
      const rooms = idleRooms();
      return { ...rooms, owner: { ...rooms.owner, liveWorkers: () => workers } };
    },
  });
  await expect(unaryCall(client, AdminServiceService.getStatus, {})).resolves.toBeDefined();

  const program = fileURLToPath(new URL("./callAfterLine.ts", import.meta.url));
  const worker = spawn("sh", ["-c", 'node --import tsx "$0" "$1"', program, gateway.addresses.clientSocket], {
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => {
    worker.kill("SIGKILL");
  });
  const facts = readProcess(worker.pid ?? 0);
  if (facts === undefined) throw new Error("the worker did not start");
  workers.push({ pid: facts.pid, birthTicks: facts.birthTicks, processGroup: facts.pid });
  worker.stdin.end("go\n");
  let output = "";
  worker.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  await once(worker, "close");
  expect(output).toBe("health ok\nstatus PERMISSION_DENIED\n");
});
