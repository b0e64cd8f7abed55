import { expect, test } from "vitest";

import { preloadRuntime, runtimeLoader } from "./registry.js";

test.each(["echo", "openai", "acp"])("the code of %s is loaded ahead, and the runtime is found", async (name) => {
  await preloadRuntime(name);
  expect(runtimeLoader(name)).toBeInstanceOf(Function);
});

test.each(["", "none", "toString", "__proto__"])(
  "a name that is no runtime (%o) loads nothing and harms nothing",
  async (name) => {
    await expect(preloadRuntime(name)).resolves.toBeUndefined();
    expect(() => runtimeLoader(name)).toThrow(/There is no runtime/);
  },
);
