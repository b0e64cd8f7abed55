import { credentials, Client, Metadata, status } from "@grpc/grpc-js";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { describe, expect, onTestFinished, test } from "vitest";
import { createDeferred } from "../../src/base/deferred.js";
import { silentLogger } from "../../src/base/logger.js";
import { HealthCheckResponse_ServingStatus as Serving, HealthService } from "../../src/gen/grpc/health/v1/health.js";
import { channelOptions } from "../../src/rpc/channelOptions.js";
import { connectClient } from "../../src/rpc/clients/connectClient.js";
import { openBidi } from "../../src/rpc/clients/openBidi.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { passBytes } from "../../src/rpc/codec.js";
import { defineBidi, defineServerStream, defineUnary } from "../../src/rpc/harness/methods.js";
import { startListener } from "../../src/rpc/listener.js";
import { peerCredentials, type PeerCredentials } from "../../src/rpc/peerCredentials.js";
import { reasonError, RpcError } from "../../src/rpc/rpcError.js";
import { EchoService, message } from "./echoDefinition.js";
import { echo, letIn, rejection, temporaryDirectory, useClient, useListener } from "./useListener.js";

const answering = echo({ unary: defineUnary({ handle: (request) => Promise.resolve(request) }) });

function listenOn(path: string): Promise<Awaited<ReturnType<typeof startListener>>> {
  return startListener({
    name: "test",
    services: [answering],
    authenticate: letIn,
    transport: { kind: "unix", path },
    log: silentLogger(),
  });
}

describe("authentication", () => {
  test("is decided at the headers: no body is needed, none is decoded", async () => {
    let decoded = 0;
    const service = echo({
      both: defineBidi({ handle: () => Promise.resolve() }),
      unary: defineUnary({
        decode: () => {
          decoded += 1;
          return message("");
        },
        handle: (request) => Promise.resolve(request),
      }),
    });
    const { address } = await useListener([service], {
      authenticate: async ({ metadata, method, connection }) => {
        await Promise.resolve();
        expect(connection.remote).toBe("unix");
        if (metadata.get("authorization")[0] !== "Bearer good") throw reasonError("TOKEN_INVALID", { method });
        return { kind: "client", name: "it", role: "client" };
      },
    });
    const client = useClient(address);
    const call = openBidi(client, EchoService.both);
    expect(await call.ended).toMatchObject({
      reason: "TOKEN_INVALID",
      details: { metadata: { method: "/test.EchoService/Both" } },
    });
    expect(await rejection(unaryCall(client, EchoService.unary, message("x")))).toMatchObject({
      reason: "TOKEN_INVALID",
    });
    expect(decoded).toBe(0);
    await unaryCall(client, EchoService.unary, message("x"), { metadata: { authorization: "Bearer good" } });
    expect(decoded).toBe(1);
  });

  test("a failure of the authenticator itself is INTERNAL and opaque", async () => {
    const { address } = await useListener([answering], {
      authenticate: () => {
        throw new Error("secret table is gone");
      },
    });
    const error = (await rejection(unaryCall(useClient(address), EchoService.unary, message("x")))) as RpcError;
    expect(error.reason).toBe("INTERNAL");
    expect(error.message).not.toContain("secret");
  });

  test("too much metadata is refused", async () => {
    const { address } = await useListener([answering]);
    const client = useClient(address);
    const large = { metadata: { "x-large": "x".repeat(8_001) } };
    const many = { metadata: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`x-${String(n)}`, "1"])) };
    for (const options of [large, many]) {
      const error = await rejection(unaryCall(client, EchoService.unary, message("x"), options));
      expect(error).toMatchObject({ reason: "METADATA_TOO_LARGE" });
    }
  });
});

describe("Unix sockets", () => {
  test("a path of 101 bytes is refused before binding and before dialling, naming the setting", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "x".repeat(101 - directory.length - 1));
    expect(Buffer.byteLength(path)).toBe(101);
    const error = (await rejection(listenOn(path))) as RpcError;
    expect(error.reason).toBe("SOCKET_PATH_TOO_LONG");
    expect(error.message).toContain("run_dir");
    expect(existsSync(path)).toBe(false);
    expect(await rejection(connectClient({ address: `unix:${path}`, purpose: "unix" }))).toMatchObject({
      reason: "SOCKET_PATH_TOO_LONG",
    });
    const fits = path.slice(0, 100);
    const listener = await listenOn(fits);
    await listener.close();
  });

  test("has mode 0600, and goes when the listener ends", async () => {
    const path = join(temporaryDirectory(), "s");
    const listener = await listenOn(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await listener.drain(1_000);
    expect(existsSync(path)).toBe(false);
  });

  test("what a killed process left is replaced; one that somebody listens on is not, nor is a file", async () => {
    const path = join(temporaryDirectory(), "s");
    const script = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
    spawnSync(process.execPath, ["-e", script]);
    expect(statSync(path).isSocket()).toBe(true);
    const listener = await listenOn(path);
    onTestFinished(() => listener.close());
    expect(await rejection(listenOn(path))).toMatchObject({ reason: "ADDRESS_IN_USE" });
    await unaryCall(useClient(listener.address), EchoService.unary, message("still there"));
    const file = join(temporaryDirectory(), "f");
    writeFileSync(file, "precious");
    expect(await rejection(listenOn(file))).toMatchObject({ reason: "ADDRESS_IN_USE" });
    expect(existsSync(file)).toBe(true);
  });

  test.runIf(process.platform === "linux")("the kernel names the process at the other end", async () => {
    const asked: (PeerCredentials | undefined)[] = [];
    const seen = createDeferred<PeerCredentials | undefined>();
    const service = echo({
      unary: defineUnary({
        handle: (request, { connection }) => {
          seen.resolve(connection.peer);
          return Promise.resolve(request);
        },
      }),
    });
    const path = join(temporaryDirectory(), "s");
    const { address } = await useListener([service], {
      transport: { kind: "unix", path, peerCheck: (peer) => asked.push(peer) },
    });
    await unaryCall(useClient(address), EchoService.unary, message("x"));
    const self = { pid: process.pid, uid: process.getuid?.(), gid: process.getgid?.() };
    expect(await seen.promise).toEqual(self);
    expect(asked).toEqual([self]);
  });

  test("a refused connection is cut before any call", async () => {
    const path = join(temporaryDirectory(), "s");
    const { address } = await useListener([answering], {
      transport: {
        kind: "unix",
        path,
        peerCheck: () => {
          throw reasonError("WORKER_NOT_LAUNCHED");
        },
      },
    });
    expect(await rejection(unaryCall(useClient(address), EchoService.unary, message("x")))).toMatchObject({
      reason: "UNAVAILABLE",
    });
  });

  test("a socket without a descriptor has no credentials", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.close();
    });
    const { Socket } = await import("node:net");
    expect(peerCredentials(new Socket())).toBeUndefined();
  });
});

describe("connections", () => {
  test("are told apart, and their end is told", async () => {
    const listener = await useListener([answering]);
    const [first, second] = [useClient(listener.address), useClient(listener.address)];
    await unaryCall(first, EchoService.unary, message("x"));
    await unaryCall(second, EchoService.unary, message("x"));
    expect(listener.connections.list().map((connection) => connection.id)).toEqual(["test-1", "test-2"]);
    const closed = createDeferred<string>();
    listener.connections.onClose("test-1", () => {
      closed.resolve("closed");
    });
    first.close();
    expect(await closed.promise).toBe("closed");
    expect(listener.connections.get("test-1")).toBeUndefined();
    expect(listener.connections.get("test-2")?.closed).toBe(false);
  });

  test("one that is cut ends its calls", async () => {
    const service = echo({
      down: defineServerStream({
        async *handle(_request, { connection }) {
          yield message("here");
          await Promise.resolve();
          connection.destroy();
          await new Promise<void>((resolve) => connection.onClose(resolve));
        },
      }),
    });
    const { address } = await useListener([service]);
    const read = async (): Promise<void> => {
      for await (const { reason } of readStream(useClient(address), EchoService.down, message(""))) {
        expect(reason).toBe("here");
      }
    };
    expect(await rejection(read())).toMatchObject({ reason: "UNAVAILABLE" });
  });

  test("over TCP have an address", async () => {
    const service = echo({
      unary: defineUnary({ handle: (_request, { connection }) => Promise.resolve(message(connection.remote)) }),
    });
    const listener = await useListener([service], { transport: { kind: "tcp", host: "127.0.0.1", port: 0 } });
    expect(listener.address).toBe(`127.0.0.1:${String(listener.port)}`);
    const answer = await unaryCall(useClient(listener.address, "tcp"), EchoService.unary, message(""));
    expect(answer.reason).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(
      await rejection(
        useListener([service], { transport: { kind: "tcp", host: "127.0.0.1", port: listener.port ?? 0 } }),
      ),
    ).toMatchObject({
      reason: "ADDRESS_IN_USE",
    });
  });
});

describe("connecting", () => {
  test("to nobody fails at once; to somebody who never answers, in time", async () => {
    const path = join(temporaryDirectory(), "s");
    expect(await rejection(connectClient({ address: `unix:${path}`, purpose: "unix" }))).toMatchObject({
      reason: "UNAVAILABLE",
    });
    const silent = createServer((socket) => {
      socket.on("error", () => undefined);
      onTestFinished(() => {
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => silent.listen(path, resolve));
    onTestFinished(() => {
      silent.close();
    });
    expect(await rejection(connectClient({ address: `unix:${path}`, purpose: "unix", timeoutMs: 50 }))).toMatchObject({
      reason: "CONNECT_TIMEOUT",
    });
  });

  test("gives a client that calls every service", async () => {
    const { address } = await useListener([answering]);
    const client = await connectClient({ address, purpose: "unix" });
    onTestFinished(() => {
      client.close();
    });
    expect((await unaryCall(client, EchoService.unary, message("x"))).reason).toBe("x");
    expect((await unaryCall(client, HealthService.check, { service: "test.EchoService" })).status).toBe(
      Serving.SERVING,
    );
  });
});

describe("health and drain", () => {
  test("an unknown service is NOT_FOUND for Check and SERVICE_UNKNOWN for Watch", async () => {
    const { address, health } = await useListener([answering]);
    const client = useClient(address);
    expect(await rejection(unaryCall(client, HealthService.check, { service: "x.Y" }))).toMatchObject({
      reason: "NOT_FOUND",
    });
    const seen: number[] = [];
    for await (const { status: said } of readStream(client, HealthService.watch, { service: "x.Y" })) {
      seen.push(said);
      if (seen.length === 1) health.set("x.Y", true);
      else break;
    }
    expect(seen).toEqual([Serving.SERVICE_UNKNOWN, Serving.SERVING]);
  });

  test("Watch says NOT_SERVING and ends, handlers are told, and the drain waits for what still runs", async () => {
    const started = createDeferred<void>();
    const told = createDeferred<unknown>();
    const release = createDeferred<void>();
    const service = echo({
      unary: defineUnary({
        handle: async (request, { draining }) => {
          draining.addEventListener("abort", () => {
            told.resolve(draining.reason);
          });
          started.resolve();
          await release.promise;
          return request;
        },
      }),
    });
    const listener = await useListener([service]);
    const client = useClient(listener.address);
    const seen: number[] = [];
    const first = createDeferred<void>();
    const watch = async (): Promise<void> => {
      for await (const { status: said } of readStream(client, HealthService.watch, { service: "" })) {
        seen.push(said);
        first.resolve();
      }
    };
    const watching = watch();
    const call = unaryCall(client, EchoService.unary, message("slow"));
    await Promise.all([first.promise, started.promise]);
    const drained = listener.drain(20_000);
    expect(await told.promise).toMatchObject({ reason: "DRAINING" });
    await watching;
    expect(seen).toEqual([Serving.SERVING, Serving.NOT_SERVING]);
    release.resolve();
    expect((await call).reason).toBe("slow");
    await drained;
    expect(listener.connections.list()).toEqual([]);
  });

  test("a call that does not end is cut after the grace", async () => {
    const aborted = createDeferred<unknown>();
    const started = createDeferred<void>();
    const service = echo({
      both: defineBidi({
        handle: (_stream, { signal }) =>
          new Promise(() => {
            signal.addEventListener("abort", () => {
              aborted.resolve(signal.reason);
            });
            started.resolve();
          }),
      }),
    });
    const listener = await useListener([service]);
    const call = openBidi(useClient(listener.address, "unixStream"), EchoService.both);
    await started.promise;
    await listener.drain(20);
    expect(await call.ended).toBeInstanceOf(RpcError);
    expect(await aborted.promise).toMatchObject({ reason: "CANCELLED" });
  });
});

test("a method that does not exist is UNIMPLEMENTED", async () => {
  const { address } = await useListener([answering]);
  const client = new Client(address, credentials.createInsecure(), channelOptions({ purpose: "unix" }));
  onTestFinished(() => {
    client.close();
  });
  const call = new Promise((resolve, reject) => {
    client.makeUnaryRequest("/x.Y/Z", passBytes, passBytes, Buffer.alloc(0), new Metadata(), (error, answer) => {
      if (error !== null) reject(error);
      else resolve(answer);
    });
  });
  expect(await rejection(call)).toMatchObject({ code: status.UNIMPLEMENTED });
});
