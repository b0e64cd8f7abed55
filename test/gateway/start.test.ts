import { createServer } from "node:net";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { expect, onTestFinished, test } from "vitest";

import { startGateway } from "../../src/gateway/gateway.js";
import { startProblem, type StartProblem } from "../../src/gateway/startProblem.js";
import { HealthCheckResponse_ServingStatus, HealthService } from "../../src/gen/grpc/health/v1/health.js";
import { AdminServiceService } from "../../src/gen/talaria/gateway/v1/admin_service.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { waitUntil } from "../kit/waitFor.js";
import { idleRooms, temporaryHome, useGateway } from "./useGateway.js";

/** Why a gateway does not start on `home`. @throws Error where it does. */
async function problemOf(home: string, maxPageCount?: number): Promise<StartProblem | undefined> {
  try {
    const options = maxPageCount === undefined ? { home } : { home, maxPageCount };
    const gateway = await startGateway(options, () => idleRooms());
    await gateway.close();
  } catch (caught) {
    return startProblem(caught);
  }
  throw new Error("the gateway started");
}

test("a fresh home is served: status tells where and what", async () => {
  const { gateway, client } = await useGateway();
  const status = await unaryCall(client, AdminServiceService.getStatus, {});
  expect(status).toMatchObject({ epoch: 1n, home: gateway.home, pin: gateway.pin, draining: false, pid: process.pid });
  expect(status.listeners.map(({ name }) => name)).toEqual(["owner-socket", "client-socket"]);
  expect(status.listeners[1]?.services).toContain("talaria.gateway.v1.SessionService");
});

test("what earlier starts left is settled before anything is accepted", async () => {
  const home = temporaryHome();
  const calls: string[] = [];
  const { gateway } = await useGateway({
    home,
    rooms: (context) => {
      const rooms = idleRooms(calls);
      const recover = async (): Promise<void> => {
        calls.push(`recover, socket ${String(existsSync(context.paths.gatewaySocket))}`);
      };
      return { ...rooms, owner: { ...rooms.owner, recover } };
    },
  });
  expect(calls).toEqual(["recover, socket false", "owner.start", "dm.start"]);
  await waitUntil(
    "a worker is prepared",
    () => calls.length > 3,
    () => calls,
  );
  expect(calls.slice(3)).toEqual(["owner.prepare"]);
  await gateway.drain(1_000);
  expect(calls.slice(4)).toEqual(["owner.drain", "dm.drain", "dm.close", "owner.close"]);
  expect(existsSync(join(home, "run", "gateway.sock"))).toBe(false);
});

test("a drain makes health say so and lets its watch end", async () => {
  const { gateway, client } = await useGateway();
  const statuses: number[] = [];
  for await (const { status } of readStream(client, HealthService.watch, { service: "" })) {
    statuses.push(status);
    if (statuses.length === 1) await Promise.race([gateway.drain(1_000), Promise.resolve()]);
  }
  expect(statuses).toEqual([HealthCheckResponse_ServingStatus.SERVING, HealthCheckResponse_ServingStatus.NOT_SERVING]);
  await gateway.ended;
});

test("Drain is asked for by a client, once or twice", async () => {
  const { gateway, client } = await useGateway();
  const first = await unaryCall(client, AdminServiceService.drain, { requestId: "d1", budget: undefined });
  expect(first.running).toBe(0);
  await gateway.ended;
});

test("a second gateway on the home is refused and changes nothing", async () => {
  const { gateway } = await useGateway();
  expect(await problemOf(gateway.home)).toMatchObject({
    reason: "HOME_LOCKED",
    message: expect.stringContaining(String(process.pid)) as string,
  });
  expect(existsSync(join(gateway.home, "run", "gateway.sock"))).toBe(true);
});

test("a malformed configuration names file, line, key and the nearest key", async () => {
  const home = temporaryHome("workers:\n  pool_sise: 2\n");
  const problem = await problemOf(home);
  expect(problem?.reason).toBe("CONFIG_INVALID");
  expect(problem?.message).toMatch(/talaria\.yaml:3\b.*workers\.pool_sise/);
  expect(problem?.hint).toContain("pool_size");
  expect(readdirSync(home)).toEqual(["talaria.yaml"]);
});

test("an agent's malformed configuration stops nobody else: the gateway serves and names it", async () => {
  const home = temporaryHome();
  mkdirSync(join(home, "agents", "coder"), { recursive: true });
  writeFileSync(join(home, "agents", "coder", "agent.yaml"), "title: Coder\nruntme: echo\n");
  const { client } = await useGateway({ home });
  const { problems } = await unaryCall(client, AdminServiceService.getStatus, {});
  expect(problems.map(({ message }) => message).join("\n")).toMatch(/agents\/coder\/agent\.yaml.*runtme/s);
});

test("a socket path over 100 bytes is refused, naming the setting", async () => {
  const home = temporaryHome(`run_dir: /tmp/${"x".repeat(100)}\n`);
  expect(await problemOf(home)).toMatchObject({
    reason: "SOCKET_PATH_TOO_LONG",
    hint: expect.stringContaining("run_dir") as string,
  });
});

test("a client listener beyond this machine is refused without TLS", async () => {
  const home = temporaryHome("listeners: { client_tcp: { host: 0.0.0.0 } }\n");
  expect(await problemOf(home)).toMatchObject({ reason: "TRANSPORT_INSECURE" });
});

test("a taken port is named, and nothing stays behind", async () => {
  const blocker = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => {
    blocker.close();
  });
  await new Promise((resolve) => blocker.once("listening", resolve));
  const { port } = blocker.address() as { port: number };
  const home = temporaryHome(`listeners: { client_tcp: { port: ${String(port)} } }\n`);
  expect(await problemOf(home)).toMatchObject({ reason: "ADDRESS_IN_USE" });
  expect(existsSync(join(home, "run", "gateway.sock"))).toBe(false);
  writeFileSync(join(home, "talaria.yaml"), "log_level: silent\n");
  await useGateway({ home });
});

test("a home of a later version is refused, untouched", async () => {
  const { gateway } = await useGateway();
  await gateway.close();
  const path = join(gateway.home, "state.db");
  const database = new DatabaseSync(path);
  database.exec("PRAGMA user_version = 999");
  database.close();
  expect(await problemOf(gateway.home)).toMatchObject({ reason: "HOME_TOO_NEW" });
});

test("a full disk at the start is named", async () => {
  expect(await problemOf(temporaryHome(), 2)).toMatchObject({ reason: "STORAGE_FULL" });
});

test("a pin that is none is named with its key", async () => {
  const home = temporaryHome("peers: { other: { address: '127.0.0.1:1', pin: abc } }\n");
  expect(await problemOf(home)).toMatchObject({
    reason: "CONFIG_INVALID",
    message: expect.stringContaining("peers.other.pin") as string,
  });
});
