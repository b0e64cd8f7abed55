import { RuleTester } from "eslint";
import tseslint from "typescript-eslint";
import { describe, expect, it } from "vitest";
import { importTable, misplaced, refusal } from "../../scripts/lint/importTable.mjs";

RuleTester.describe = describe;
RuleTester.it = it;

describe("refusal", () => {
  const allowed: [from: string, specifier: string][] = [
    ["src/owner/launcher.ts", "../store/index.js"],
    ["src/owner/launcher.ts", "./tokens/token.js"],
    ["src/owner/launcher.ts", "node:fs"],
    ["src/owner/launcher.ts", "@grpc/grpc-js"],
    ["src/dm/lane.ts", "../gen/talaria/dm/v1/peer.js"],
    ["src/gateway/main.ts", "../owner/index.js"],
    ["src/gateway/main.ts", "../dm/transports/peer.js"],
    ["src/cli/commands/serve.ts", "../../gateway/gateway.js"],
    ["src/cli/commands/serve/options.ts", "../../../gateway/gateway.js"],
    ["src/cli/commands/relay.ts", "../../connector/connector.js"],
    ["src/dm/lane.test.ts", "../owner/testing/fakeOwner.js"],
    ["src/dm/lane.test.ts", "../../test/support/home.js"],
    ["src/cli/main.ts", "../../package.json"],
    ["test/crash/kill.test.ts", "../../src/owner/launcher.js"],
  ];
  it.each(allowed)("allows %s to import %s", (from, specifier) => {
    expect(refusal(from, specifier)).toBeUndefined();
  });

  const forbidden: [from: string, specifier: string, rooms: RegExp][] = [
    ["src/base/clock.ts", "../rpc/client.js", /^base may not import rpc\b/],
    ["src/base/clock.ts", "../gen/google/rpc/status.js", /^base may not import gen\b/],
    ["src/store/writer.ts", "../gen/google/rpc/status.js", /^store may not import gen\b/],
    ["src/worker/main.ts", "../store/writer.js", /^worker may not import store\b/],
    ["src/worker/main.ts", "../owner/launcher.js", /^worker may not import owner\b/],
    ["src/dm/lane.ts", "../owner/ports/inputs.js", /^dm may not import owner\b/],
    ["src/owner/launcher.ts", "../dm/lane.js", /^owner may not import dm\b/],
    ["src/gateway/main.ts", "../worker/main.js", /^gateway may not import worker\b/],
    ["src/cli/main.ts", "../gateway/gateway.js", /^cli may not import gateway\b/],
    ["src/cli/commands/serve.ts", "../../connector/connector.js", /^cli may not import connector\b/],
    ["src/cli/commands/relay.ts", "../../gateway/gateway.js", /^cli may not import gateway\b/],
    ["src/dm/lane.test.ts", "../owner/launcher.js", /^dm may not import owner\b/],
    ["src/dm/lane.ts", "./testing/fakeOwner.js", /^dm may not import src\/dm\/testing/],
    ["src/dm/lane.ts", "../../test/support/home.js", /^dm may not import from test\b/],
  ];
  it.each(forbidden)("refuses %s importing %s", (from, specifier, rooms) => {
    expect(refusal(from, specifier)).toMatch(rooms);
  });
});

describe("misplaced", () => {
  it("names the rooms for a file that is in none", () => {
    expect(misplaced("src/index.ts")).toMatch(/in no room/);
    expect(misplaced("src/utils/strings.ts")).toMatch(/in no room/);
    expect(misplaced("src/base/clock.ts")).toBeUndefined();
    expect(misplaced("test/tooling/importTable.test.ts")).toBeUndefined();
  });
});

const cwd = process.cwd();
const filename = `${cwd}/src/worker/main.ts`;
new RuleTester({ languageOptions: { parser: tseslint.parser } }).run("import-table", importTable, {
  valid: [
    { filename, code: 'import { frames } from "../rpc/frames.js";' },
    { filename, code: 'export * from "./turn.js";' },
  ],
  invalid: [
    'import { writer } from "../store/writer.js";',
    'import type { Writer } from "../store/writer.js";',
    'export { writer } from "../store/writer.js";',
    'export * from "../store/writer.js";',
    'export const load = () => import("../store/writer.js");',
    'export type Writer = import("../store/writer.js").Writer;',
  ].map((code) => ({
    filename,
    code,
    errors: [{ message: /^worker may not import store: it may import base, gen, rpc/ }],
  })),
});
