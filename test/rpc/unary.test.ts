import { credentials, Client, status, type ServiceError } from "@grpc/grpc-js";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createDeferred } from "../../src/base/deferred.js";
import { createLogger } from "../../src/base/logger.js";
import { channelOptions } from "../../src/rpc/channelOptions.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { passBytes } from "../../src/rpc/codec.js";
import { implementService } from "../../src/rpc/harness/implementService.js";
import { defineUnary } from "../../src/rpc/harness/methods.js";
import { reasonError, type RpcError } from "../../src/rpc/rpcError.js";
import { EchoService, message } from "./echoDefinition.js";
import { echo, rejection, useClient, useListener } from "./useListener.js";

function rawCall(address: string, bytes: Buffer): Promise<unknown> {
  const client = new Client(address, credentials.createInsecure(), channelOptions({ purpose: "unix" }));
  onTestFinished(() => {
    client.close();
  });
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(EchoService.unary.path, passBytes, passBytes, bytes, (error, answer) => {
      if (error !== null) reject(error);
      else resolve(answer);
    });
  });
}

describe("unary calls", () => {
  test("answer with what the handler returns, and know who calls and on what", async () => {
    const service = echo({
      unary: defineUnary({
        handle: (request, context) =>
          Promise.resolve(
            message(request.reason, `${context.principal.kind} ${context.connection.id} ${context.method}`),
          ),
      }),
    });
    const { address } = await useListener([service]);
    const first = await unaryCall(useClient(address), EchoService.unary, message("hello"));
    const second = await unaryCall(useClient(address), EchoService.unary, message("again"));
    expect(first).toEqual(message("hello", "client test-1 /test.EchoService/Unary"));
    expect(second.domain).toBe("client test-2 /test.EchoService/Unary");
  });

  test("a handler that throws after an await ends INTERNAL, with an incident id and nothing of the error", async () => {
    const lines: string[] = [];
    const log = createLogger({ level: "debug", destination: { write: (line) => lines.push(line) } });
    const service = echo({
      unary: defineUnary({
        handle: async () => {
          await Promise.resolve();
          throw new Error("the database password is hunter2");
        },
      }),
    });
    const { address } = await useListener([service], { log });
    const error = (await rejection(unaryCall(useClient(address), EchoService.unary, message("x")))) as RpcError;
    expect(error.reason).toBe("INTERNAL");
    const incident = error.details.metadata?.["incident"] ?? "";
    expect(incident).toMatch(/^[0-9a-f]{16}$/);
    const wire = error.cause as ServiceError;
    const sent = wire.details + String(wire.metadata.get("grpc-status-details-bin")[0]);
    expect(sent).not.toContain("hunter2");
    expect(sent).not.toContain("unary.test");
    const logged = lines.filter((line) => line.includes(incident)).join("");
    expect(logged).toContain("unary.test");
  });

  test("a refusal arrives with reason, code, hint, retry delay, metadata and violations", async () => {
    const service = echo({
      unary: defineUnary({
        handle: () =>
          Promise.reject(
            reasonError(
              "UNKNOWN_AGENT",
              { agent: "zo\u00eb" },
              { retryAfterMs: 1500, fieldViolations: [{ field: "agent", description: "unknown" }] },
            ),
          ),
      }),
    });
    const { address } = await useListener([service]);
    const error = (await rejection(unaryCall(useClient(address), EchoService.unary, message("x")))) as RpcError;
    expect(error.reason).toBe("UNKNOWN_AGENT");
    expect(error.message).toBe('There is no agent named "zo\u00eb" here.');
    expect(error.hint).toContain("List the agents");
    expect(error.details).toEqual({
      retryAfterMs: 1500,
      metadata: { agent: "zo\u00eb" },
      fieldViolations: [{ field: "agent", description: "unknown" }],
    });
    expect((error.cause as ServiceError).code).toBe(status.NOT_FOUND);
  });

  test("invalid UTF-8, garbage and too many bytes are told apart, and the handler does not run", async () => {
    let ran = 0;
    const service = echo({
      unary: defineUnary({
        handle: (request) => {
          ran += 1;
          return Promise.resolve(request);
        },
      }),
    });
    const { address } = await useListener([service]);
    const badText = Buffer.from([0x0a, 0x02, 0xc3, 0x28]);
    expect(await rejection(rawCall(address, badText))).toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: expect.stringContaining("UTF-8") as string,
    });
    expect(await rejection(rawCall(address, Buffer.from([0x0a, 0xff])))).toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: expect.stringContaining("not a message") as string,
    });
    const large = message("x".repeat(4 * 1024 * 1024 + 1));
    const error = (await rejection(unaryCall(useClient(address), EchoService.unary, large))) as RpcError;
    expect(error.reason).toBe("MESSAGE_TOO_LARGE");
    expect(error.details.metadata?.["limit"]).toBe("4194304");
    expect(ran).toBe(0);
    const overTransport = message("x".repeat(9 * 1024 * 1024));
    expect(await rejection(unaryCall(useClient(address), EchoService.unary, overTransport))).toMatchObject({
      reason: "MESSAGE_TOO_LARGE",
    });
  });

  test("a response over the limit is refused before it is sent", async () => {
    const service = echo({
      unary: defineUnary({ handle: () => Promise.resolve(message("x".repeat(4 * 1024 * 1024 + 1))) }),
    });
    const { address } = await useListener([service]);
    expect(await rejection(unaryCall(useClient(address), EchoService.unary, message("x")))).toMatchObject({
      reason: "MESSAGE_TOO_LARGE",
    });
  });

  test("a schema names the fields in proto spelling and may change the type", async () => {
    const schema = z
      .object({ reason: z.string().min(3, "at least 3 characters"), domain: z.string() })
      .transform((it) => it.reason.length);
    const service = echo({
      unary: defineUnary({ schema, handle: (length) => Promise.resolve(message(String(length))) }),
    });
    const { address } = await useListener([service]);
    const client = useClient(address);
    expect((await unaryCall(client, EchoService.unary, message("four"))).reason).toBe("4");
    const error = (await rejection(unaryCall(client, EchoService.unary, message("x")))) as RpcError;
    expect(error.reason).toBe("INVALID_FIELD");
    expect(error.details.fieldViolations).toEqual([{ field: "reason", description: "at least 3 characters" }]);
  });

  test("a call without a deadline gets the default one, and its handler's signal aborts", async () => {
    const aborted = createDeferred<unknown>();
    const service = echo({
      unary: defineUnary({
        handle: (_request, { signal }) =>
          new Promise(() => {
            signal.addEventListener("abort", () => {
              aborted.resolve(signal.reason);
            });
          }),
      }),
    });
    const { address } = await useListener([service], { defaultDeadlineMs: 20 });
    const error = await rejection(rawCall(address, Buffer.alloc(0)));
    expect(error).toMatchObject({ code: status.DEADLINE_EXCEEDED });
    expect(await aborted.promise).toMatchObject({ reason: "DEADLINE_EXCEEDED" });
  });

  test("the client's deadline ends the call and aborts the signal", async () => {
    const aborted = createDeferred<unknown>();
    const service = echo({
      unary: defineUnary({
        handle: (_request, { signal, deadlineMs }) =>
          new Promise(() => {
            expect(deadlineMs).toBeTypeOf("number");
            signal.addEventListener("abort", () => {
              aborted.resolve(signal.reason);
            });
          }),
      }),
    });
    const { address } = await useListener([service]);
    const call = unaryCall(useClient(address), EchoService.unary, message("x"), { timeoutMs: 50 });
    expect(await rejection(call)).toMatchObject({ reason: "DEADLINE_EXCEEDED" });
    expect(await aborted.promise).toMatchObject({ name: "RpcError" });
  });

  test("a cancelled call aborts the signal; a successful one never does", async () => {
    const started = createDeferred<void>();
    const signals: AbortSignal[] = [];
    const aborted = createDeferred<unknown>();
    const service = echo({
      unary: defineUnary({
        handle: (request, { signal }) => {
          signals.push(signal);
          if (request.reason !== "wait") return Promise.resolve(request);
          signal.addEventListener("abort", () => {
            aborted.resolve(signal.reason);
          });
          started.resolve();
          return new Promise(() => undefined);
        },
      }),
    });
    const { address } = await useListener([service]);
    const client = useClient(address);
    await unaryCall(client, EchoService.unary, message("quick"));
    const controller = new AbortController();
    const call = unaryCall(client, EchoService.unary, message("wait"), { signal: controller.signal });
    await started.promise;
    controller.abort();
    expect(await rejection(call)).toMatchObject({ reason: "CANCELLED" });
    expect(await aborted.promise).toMatchObject({ reason: "CANCELLED" });
    // grpc-js emits `cancelled` for the successful call too, and did so before the second call ended.
    expect(signals.map((signal) => signal.aborted)).toEqual([false, true]);
  });

  test("a method left out on purpose is UNIMPLEMENTED, and one that is missing fails the start", async () => {
    const { address } = await useListener([echo({})]);
    expect(await rejection(unaryCall(useClient(address), EchoService.unary, message("x")))).toMatchObject({
      reason: "UNIMPLEMENTED",
    });
    expect(() => implementService(EchoService, {} as never)).toThrow("no handler for /test.EchoService/Unary");
  });
});
