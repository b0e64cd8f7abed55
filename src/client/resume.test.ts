import { expect, test } from "vitest";

import { FakeClock } from "../base/testing/fakeClock.js";
import { RpcError } from "../rpc/rpcError.js";
import { resume, retry } from "./resume.js";
import { DEFAULT_RETRY_POLICY, retryDelay, shouldRetry } from "./retryPolicy.js";

const { signal } = new AbortController();
const random = { bytes: (length: number) => Buffer.alloc(length), fraction: () => 0.5 };

function ports(clock = new FakeClock()) {
  return { clock, ports: { clock, random, policy: DEFAULT_RETRY_POLICY } };
}

/** Lets time pass until a promise is settled. */
async function pass<Value>(clock: FakeClock, promise: Promise<Value>): Promise<Value> {
  let over = false;
  const settled = promise.finally(() => (over = true));
  settled.catch(() => undefined);
  for (let step = 0; step < 5_000 && !(over as boolean); step += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(100);
  }
  return settled;
}

async function* items(list: readonly (number | RpcError)[]): AsyncGenerator<number> {
  for (const one of list) {
    if (one instanceof RpcError) throw one;
    yield one;
  }
}

test("a stream that breaks or ends early is opened again after what was seen", async () => {
  const made = ports();
  const opened: number[] = [];
  let last = 0;
  const parts = [[1, 2, new RpcError("UNAVAILABLE")], [3], [new RpcError("DRAINING")], [4, 5, 6]];
  const stream = resume(
    {
      open: () => {
        opened.push(last);
        return items(parts[opened.length - 1] ?? []);
      },
      seen: (item: number) => (last = item),
      isLast: (item) => item === 5,
    },
    made.ports,
    signal,
  );
  const all = async (): Promise<number[]> => {
    const got: number[] = [];
    for await (const item of stream) got.push(item);
    return got;
  };
  expect(await pass(made.clock, all())).toEqual([1, 2, 3, 4, 5]);
  expect(opened).toEqual([0, 2, 3, 3]);
});

test.each(["UNKNOWN_SESSION", "TOKEN_INVALID", "SLOW_CONSUMER"] as const)(
  "what trying again cannot mend is thrown: %s",
  async (reason) => {
    const made = ports();
    const stream = resume(
      { open: () => items([new RpcError(reason)]), seen: () => undefined, isLast: () => false },
      made.ports,
      signal,
    );
    await expect(pass(made.clock, stream.next())).rejects.toThrow(expect.objectContaining({ reason }) as Error);
  },
);

test("a gateway that stays away is given up after the time of the policy, with what was last wrong", async () => {
  const made = ports();
  const stream = resume(
    { open: () => items([new RpcError("CONNECT_TIMEOUT")]), seen: () => undefined, isLast: () => false },
    made.ports,
    signal,
  );
  await expect(pass(made.clock, stream.next())).rejects.toThrow(
    expect.objectContaining({ reason: "CONNECT_TIMEOUT" }) as Error,
  );
  expect(made.clock.monotonic()).toBeGreaterThanOrEqual(DEFAULT_RETRY_POLICY.reconnectMs);
});

test("a signal ends the wait between two tries", async () => {
  const made = ports();
  const leave = new AbortController();
  const stream = resume(
    {
      open: () => items([new RpcError("UNAVAILABLE")]),
      seen: () => undefined,
      isLast: () => false,
      broke: () => leave.abort(),
    },
    made.ports,
    leave.signal,
  );
  await expect(stream.next()).rejects.toThrow(expect.objectContaining({ reason: "CANCELLED" }) as Error);
});

test("a call is tried again at most so often, and never before the gateway wants it", async () => {
  const made = ports();
  const times: number[] = [];
  const attempt = async (): Promise<string> => {
    times.push(made.clock.monotonic());
    throw new RpcError("STORAGE_UNAVAILABLE", { retryAfterMs: 3_000 });
  };
  await expect(pass(made.clock, retry(attempt, made.ports, signal))).rejects.toThrow();
  expect(times).toHaveLength(DEFAULT_RETRY_POLICY.attempts);
  for (let index = 1; index < times.length; index += 1) {
    expect((times[index] ?? 0) - (times[index - 1] ?? 0)).toBeGreaterThanOrEqual(3_000);
  }
});

test.each([
  ["UNAVAILABLE", false, true],
  ["DRAINING", false, true],
  ["CANCELLED", false, true],
  ["CANCELLED", true, false],
  ["DEADLINE_EXCEEDED", false, false],
  ["QUEUE_FULL", false, false],
  ["TURN_STOPPED", false, false],
  ["INTERNAL", false, false],
] as const)("%s, cancelled here %s: try again %s", (reason, aborted, expected) => {
  expect(shouldRetry(new RpcError(reason), aborted)).toBe(expected);
});

test("a limit is tried again only where the gateway says when", () => {
  expect(shouldRetry(new RpcError("OVERLOADED", { retryAfterMs: 5 }), false)).toBe(true);
  expect(shouldRetry(new RpcError("OVERLOADED"), false)).toBe(false);
});

test("the bound of the wait doubles up to its longest", () => {
  const delays = [1, 2, 3, 10, 1_000].map((failures) => retryDelay(failures, new RpcError("UNAVAILABLE"), random));
  expect(delays).toEqual([100, 200, 400, 2_500, 2_500]);
});
