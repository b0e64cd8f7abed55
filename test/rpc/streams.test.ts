import { describe, expect, test } from "vitest";
import { createDeferred } from "../../src/base/deferred.js";
import { openBidi } from "../../src/rpc/clients/openBidi.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { sendStream } from "../../src/rpc/clients/sendStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { defineBidi, defineClientStream, defineServerStream, defineUnary } from "../../src/rpc/harness/methods.js";
import { reasonError, RpcError } from "../../src/rpc/rpcError.js";
import { EchoService, message } from "./echoDefinition.js";
import { echo, rejection, useClient, useListener } from "./useListener.js";

async function collect(stream: AsyncIterable<{ readonly reason: string }>): Promise<string[]> {
  const all: string[] = [];
  for await (const { reason } of stream) all.push(reason);
  return all;
}

describe("server streams", () => {
  test("arrive whole and in order", async () => {
    const service = echo({
      down: defineServerStream({
        async *handle({ reason }) {
          for (let n = 0; n < Number(reason); n += 1) {
            if (n % 100 === 0) await Promise.resolve();
            yield message(String(n));
          }
        },
      }),
    });
    const { address } = await useListener([service]);
    const all = await collect(readStream(useClient(address, "unixStream"), EchoService.down, message("1000")));
    expect(all).toEqual(Array.from({ length: 1000 }, (_, n) => String(n)));
  });

  test("a failure arrives after the messages before it", async () => {
    const service = echo({
      down: defineServerStream({
        async *handle() {
          await Promise.resolve();
          yield message("one");
          throw reasonError("UNKNOWN_CURSOR");
        },
      }),
    });
    const { address } = await useListener([service]);
    const seen: string[] = [];
    const read = async (): Promise<void> => {
      for await (const { reason } of readStream(useClient(address), EchoService.down, message(""))) seen.push(reason);
    };
    expect(await rejection(read())).toMatchObject({ reason: "UNKNOWN_CURSOR" });
    expect(seen).toEqual(["one"]);
  });

  test("a client that leaves its loop cancels the call, and the source is closed", async () => {
    const closed = createDeferred<unknown>();
    const service = echo({
      down: defineServerStream({
        async *handle(_request, { signal }) {
          try {
            for (let n = 0; n < 5_000; n += 1) {
              await Promise.resolve();
              yield message("x".repeat(10_000));
            }
          } finally {
            closed.resolve(signal.reason);
          }
        },
      }),
    });
    const { address } = await useListener([service]);
    for await (const one of readStream(useClient(address, "unixStream"), EchoService.down, message(""))) {
      expect(one.reason).toHaveLength(10_000);
      break;
    }
    expect(await closed.promise).toMatchObject({ reason: "CANCELLED" });
  });

  test("a reader that does not read holds the source", async () => {
    const count = 2_000;
    const bytes = 16_384;
    let made = 0;
    const service = echo({
      down: defineServerStream({
        async *handle() {
          await Promise.resolve();
          while (made < count) {
            made += 1;
            yield message("x".repeat(bytes));
          }
        },
      }),
      unary: defineUnary({ handle: () => Promise.resolve(message(String(made))) }),
    });
    const { address } = await useListener([service]);
    const client = useClient(address, "unixStream");
    const stream = readStream(client, EchoService.down, message(""))[Symbol.asyncIterator]();
    await stream.next();
    // Each round trip on the same connection gives the source every chance to go on.
    let before = -1;
    let now = 0;
    while (before !== now) {
      before = now;
      for (let n = 0; n < 20; n += 1) now = Number((await unaryCall(client, EchoService.unary, message(""))).reason);
    }
    expect(now).toBeLessThan(150);
    let read = 1;
    while ((await stream.next()).done !== true) read += 1;
    expect(read).toBe(count);
  });

  test("the deadline of a client ends a stream that waits", async () => {
    const service = echo({
      down: defineServerStream({
        async *handle(_request, { signal }) {
          await new Promise((resolve) => {
            signal.addEventListener("abort", resolve);
          });
          yield message("too late");
        },
      }),
    });
    const { address } = await useListener([service]);
    const read = collect(readStream(useClient(address), EchoService.down, message(""), { timeoutMs: 40 }));
    expect(await rejection(read)).toMatchObject({ reason: "DEADLINE_EXCEEDED" });
  });
});

describe("client streams", () => {
  test("are read to their end", async () => {
    const service = echo({
      up: defineClientStream({ handle: async (requests) => message((await collect(requests)).join(" ")) }),
    });
    const { address } = await useListener([service]);
    const answer = await sendStream(
      useClient(address, "unixStream"),
      EchoService.up,
      ["a", "b", "c"].map((it) => message(it)),
    );
    expect(answer.reason).toBe("a b c");
  });

  test("one that the client abandons is never taken for complete", async () => {
    const seen = createDeferred<unknown>();
    const started = createDeferred<void>();
    const service = echo({
      up: defineClientStream({
        handle: async (requests) => {
          const read = async (): Promise<void> => {
            for await (const { reason } of requests) if (reason === "one") started.resolve();
          };
          await read().then(
            () => {
              seen.resolve("complete");
            },
            (caught: unknown) => {
              seen.resolve(caught);
            },
          );
          return message("");
        },
      }),
    });
    const { address } = await useListener([service]);
    async function* abandoned(): AsyncGenerator<ReturnType<typeof message>> {
      yield message("one");
      await started.promise;
      throw new Error("the source broke");
    }
    const call = sendStream(useClient(address, "unixStream"), EchoService.up, abandoned());
    expect(await rejection(call)).toMatchObject({ message: "the source broke" });
    expect(await seen.promise).toMatchObject({ reason: "CANCELLED" });
  });

  test("an early refusal stops the sender", async () => {
    const service = echo({
      up: defineClientStream({
        handle: async (requests) => {
          for await (const { reason } of requests) if (reason === "1") throw reasonError("ATTACHMENT_TOO_LARGE");
          return message("");
        },
      }),
    });
    const { address } = await useListener([service]);
    let sent = 0;
    function* many(): Generator<ReturnType<typeof message>> {
      while (sent < 5_000) yield message(String((sent += 1)), "x".repeat(10_000));
    }
    const call = sendStream(useClient(address, "unixStream"), EchoService.up, many());
    expect(await rejection(call)).toMatchObject({ reason: "ATTACHMENT_TOO_LARGE" });
  });
});

describe("bidirectional calls", () => {
  test("echo until the client closes its half; the server may write after that", async () => {
    const service = echo({
      both: defineBidi({
        async handle({ requests, send }) {
          for await (const request of requests) await send(request);
          await send(message("bye"));
        },
      }),
    });
    const { address } = await useListener([service]);
    const call = openBidi(useClient(address, "unixStream"), EchoService.both);
    for (let n = 0; n < 200; n += 1) await call.send(message(String(n)));
    call.end();
    expect(await collect(call.responses)).toEqual([...Array.from({ length: 200 }, (_, n) => String(n)), "bye"]);
    expect(await call.ended).toBeUndefined();
  });

  test("a handler that returns early ends the call, and later sends fail", async () => {
    const service = echo({
      both: defineBidi({
        async handle({ requests, send }) {
          for await (const request of requests) {
            await send(request);
            return;
          }
        },
      }),
    });
    const { address } = await useListener([service]);
    const call = openBidi(useClient(address, "unixStream"), EchoService.both);
    await call.send(message("one"));
    expect(await collect(call.responses)).toEqual(["one"]);
    expect(await call.ended).toBeUndefined();
    expect(await rejection(call.send(message("two")))).toMatchObject({ reason: "UNAVAILABLE" });
  });

  test("a cancelled call throws in the handler's loop and refuses its sends", async () => {
    const seen = createDeferred<{ readonly loop: unknown; readonly send: unknown; readonly aborted: boolean }>();
    const service = echo({
      both: defineBidi({
        async handle({ requests, send }, { signal }) {
          await send(message("ready"));
          const loop = await rejection(collect(requests));
          seen.resolve({ loop, send: await rejection(send(message("late"))), aborted: signal.aborted });
          throw loop;
        },
      }),
    });
    const { address } = await useListener([service]);
    const call = openBidi(useClient(address, "unixStream"), EchoService.both);
    for await (const { reason } of call.responses) {
      expect(reason).toBe("ready");
      break;
    }
    expect(await call.ended).toMatchObject({ reason: "CANCELLED" });
    expect(await seen.promise).toMatchObject({
      loop: { reason: "CANCELLED" },
      send: { reason: "CANCELLED" },
      aborted: true,
    });
  });

  test("an invalid message ends the call with its reason", async () => {
    const service = echo({
      both: defineBidi({
        async handle({ requests }) {
          for await (const request of requests) expect(request.reason).toBe("fine");
        },
      }),
    });
    const { address } = await useListener([service]);
    const call = openBidi(useClient(address, "unixStream"), EchoService.both, {
      encode: ({ reason }) =>
        reason === "bad" ? Buffer.from([0x0a, 0x01, 0xff]) : EchoService.both.requestSerialize(message(reason)),
    });
    await call.send(message("fine"));
    await call.send(message("bad"));
    expect(await rejection(collect(call.responses))).toMatchObject({ reason: "INVALID_UTF8" });
    expect(await call.ended).toMatchObject({ reason: "INVALID_UTF8" });
  });

  test("a handler that does not read holds the client, whose gathered writes go when the last one has left", async () => {
    const release = createDeferred<void>();
    const service = echo({
      both: defineBidi({
        async handle({ requests }) {
          await release.promise;
          await collect(requests);
        },
      }),
    });
    const { address } = await useListener([service]);
    const call = openBidi(useClient(address, "unixStream"), EchoService.both);
    let written = 0;
    let sent = 0;
    const held = createDeferred<void>();
    const pump = async (): Promise<void> => {
      for (; sent < 2_000; sent += 1) {
        const ready = call.sendNow(message("x".repeat(8_192)), () => {
          written += 1;
        });
        if (ready) continue;
        if (sent > 15) held.resolve();
        await call.drained();
      }
      call.end();
    };
    const pumping = pump();
    await held.promise;
    expect(sent).toBeLessThan(200);
    release.resolve();
    await pumping;
    expect(await call.ended).toBeUndefined();
    expect(written).toBe(2_000);
  });

  test("a handler that throws a stranger's error ends INTERNAL", async () => {
    const service = echo({ both: defineBidi({ handle: () => Promise.reject(new TypeError("oops")) }) });
    const { address } = await useListener([service]);
    const call = openBidi(useClient(address, "unixStream"), EchoService.both);
    const error = await call.ended;
    expect(error).toBeInstanceOf(RpcError);
    expect(error?.reason).toBe("INTERNAL");
    expect(error?.message).not.toContain("oops");
  });
});
