import { expect, test } from "vitest";

import { systemClock } from "../../../base/clock.js";
import { openModelEndpoint } from "./modelEndpoint.js";

const open = (baseUrl: string, key: string) =>
  openModelEndpoint({ provider: "", model: "m", baseUrl, credential: "model" }, () => key, systemClock);

test("an endpoint is named by its host, and its key is known", async () => {
  expect(await open("https://example.org/v1", "sk-1")).toMatchObject({ host: "example.org", key: "sk-1" });
});

test.each([
  ["a line break", "sk-1\nsk-2"],
  ["a typographic mark", "“sk-1”"],
  ["U+0000", "s\0k"],
])("a key with %s is a mistake of the configuration, and is not shown", async (_, key) => {
  const error: unknown = await open("https://example.org/v1", key).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ reason: "RUNTIME_CONFIG" });
  expect(String(error)).not.toContain("sk");
});

test("a base URL with a password is a mistake of the configuration, and is not shown", async () => {
  const error: unknown = await open("https://me:hunter2@example.org/v1", "").catch((caught: unknown) => caught);
  expect(error).toMatchObject({ reason: "RUNTIME_CONFIG" });
  expect(String(error)).not.toContain("hunter2");
});
