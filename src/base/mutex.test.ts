import { expect, test } from "vitest";

import { createDeferred } from "./deferred.js";
import { Mutex } from "./mutex.js";

test("sections run one at a time, in order, and past a failure", async () => {
  const mutex = new Mutex();
  const gate = createDeferred<string>();
  const seen: string[] = [];
  const first = mutex.run(async () => {
    seen.push("first in");
    seen.push(await gate.promise);
    throw new Error("first failed");
  });
  const second = mutex.run(() => {
    seen.push("second in");
    return Promise.resolve(2);
  });
  await Promise.resolve();
  expect(seen).toEqual(["first in"]);
  gate.resolve("first out");
  await expect(first).rejects.toThrow("first failed");
  await expect(second).resolves.toBe(2);
  expect(seen).toEqual(["first in", "first out", "second in"]);
});
