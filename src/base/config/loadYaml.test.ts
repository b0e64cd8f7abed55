import { expect, test } from "vitest";

import { gatewayConfigSchema } from "./gatewayConfig.js";
import { checkYaml } from "./loadYaml.js";

/** Each line stands nine times for the one before. */
const MULTIPLYING = [
  "a: &l0 [x]",
  ...Array.from({ length: 6 }, (_, n) => {
    const before = Array<string>(9)
      .fill(`*l${String(n)}`)
      .join(", ");
    return `k${String(n)}: &l${String(n + 1)} [${before}]`;
  }),
].join("\n");

test.each([
  ["an alias that stands for nothing", "name: *none\n"],
  ["aliases that multiply", MULTIPLYING],
])("%s: is a problem of the file", (_, text) => {
  const result = checkYaml(text, "talaria.yaml", gatewayConfigSchema);
  expect(result.kind === "invalid" ? result.problems.map(({ message }) => message) : []).toEqual([
    expect.stringMatching(/^talaria\.yaml.*alias/i),
  ]);
});

test.each([
  ["workers: { max: lots }", "workers.max: must be a number"],
  ["workers: { max: 1.5 }", "workers.max: must be a whole number"],
  ["dm: { enabled: maybe }", "dm.enabled: must be true or false"],
  ["name: [a]", "name: must be a text"],
  ["notify_command: echo", "notify_command: must be a list"],
  ["workers: 3", "workers: must be a section with keys of its own"],
  ["peers: 3", "peers: must be a section with keys of its own"],
  ["budgets: { hello: 1 }", "budgets.hello: unknown key (did you mean hello_ms?)"],
])("%s: what may stand there is said", (text, problem) => {
  const result = checkYaml(text, "talaria.yaml", gatewayConfigSchema);
  const found = result.kind === "invalid" ? result.problems.map(({ message }) => message) : [];
  expect(found).toEqual([`talaria.yaml:1: ${problem}`]);
});
