import { expect, test } from "vitest";

import type { Contexts } from "./contexts/contextFile.js";
import { accessHint, type ConnectionOptions, resolveEndpoint } from "./endpoint.js";

const contexts: Contexts = {
  current: "office",
  contexts: { office: { address: "office:7420", token: "tal_o", pin: "sha256:o" }, attic: { home: "/attic" } },
};
const resolve = (options: ConnectionOptions, env: NodeJS.ProcessEnv = {}, all = contexts) =>
  resolveEndpoint(options, env, () => all);

test.each<[string, ConnectionOptions, NodeJS.ProcessEnv, object]>([
  ["an address beats everything", { address: "a:1", context: "attic", home: "/h" }, {}, { address: "a:1" }],
  ["a context beats a home", { context: "attic", home: "/h" }, {}, { kind: "home", home: "/attic" }],
  ["a home beats the environment", { home: "/h" }, { TALARIA_ADDRESS: "e:1" }, { kind: "home", home: "/h" }],
  [
    "an address of the environment comes next",
    {},
    { TALARIA_ADDRESS: "e:1", TALARIA_CONTEXT: "attic" },
    { address: "e:1" },
  ],
  ["then its context", {}, { TALARIA_CONTEXT: "attic", TALARIA_HOME: "/h" }, { home: "/attic" }],
  ["then its home", {}, { TALARIA_HOME: "/h" }, { kind: "home", home: undefined, context: undefined }],
  ["then the context in use", {}, {}, { address: "office:7420", token: "tal_o", pin: "sha256:o", context: "office" }],
  ["local is the user's own home", { context: "local" }, {}, { kind: "home", home: undefined }],
  ["a token that is given beats the context's", { token: "t" }, {}, { token: "t", tokenSource: "--token" }],
  ["a context's token beats the environment's", {}, { TALARIA_TOKEN: "e" }, { tokenSource: "the context office" }],
  ["certificates that are given replace the context's pin", { ca: "/ca" }, {}, { ca: "/ca", pin: undefined }],
])("%s", (_, options, env, expected) => {
  expect(resolve(options, env)).toMatchObject(expected);
});

test("a context that does not exist is refused with those that do", () => {
  expect(() => resolve({ context: "ofice" })).toThrow(
    expect.objectContaining({ reason: "NOT_FOUND", hint: expect.stringContaining("office, attic") as string }) as Error,
  );
});

test("without contexts and environment it is the home of the user", () => {
  expect(resolve({}, {}, { contexts: {} })).toEqual({ kind: "home", home: undefined, context: undefined });
});

test("a refused token is told where it came from; a refusal on the socket keeps the gateway's own words", () => {
  expect(accessHint("TOKEN_INVALID", resolve({}))).toContain("the context office");
  expect(accessHint("TOKEN_INVALID", resolve({}, { TALARIA_ADDRESS: "e:1", TALARIA_TOKEN: "x" }))).toContain(
    "TALARIA_TOKEN",
  );
  expect(accessHint("PERMISSION_DENIED", resolve({ home: "/h" }))).toBeUndefined();
  expect(accessHint("QUEUE_FULL", resolve({}))).toBeUndefined();
});
