import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { HOOK_EVENTS } from "./agentConfig.js";
import { agentConfigSchema } from "./agentConfigSchema.js";
import { keyPaths } from "../testing/keyPaths.js";
import { parseYaml } from "./loadYaml.js";

const page = readFileSync(new URL("../../../docs/agents.md", import.meta.url), "utf8");

/** The rows of the table after a mark, each the code in its first cells. */
function rowsAfter(mark: string): readonly (readonly [first: string, second: string])[] {
  const [, rest = ""] = page.split(`<!-- ${mark} -->`);
  const [table = ""] = rest.trim().split("\n\n");
  return table
    .split("\n")
    .slice(2)
    .map((line) => line.split("|").map((cell) => cell.trim().replace(/^`(.*)`$/, "$1")))
    .map(([, first = "", second = ""]) => [first, second]);
}

test("docs/agents.md names every key of agent.yaml with its default, and no other", () => {
  const known = keyPaths(agentConfigSchema).map(({ path, fallback }) => {
    const shown = path.replace(/(<name>)\.(value|env|file)$/, "$1").replace(/^hooks\.\w+/, "hooks.<event>");
    return [shown, fallback ?? ""] as const;
  });
  expect(rowsAfter("keys")).toEqual([...new Map(known)]);
});

test("docs/agents.md names every event of a hook", () => {
  expect(rowsAfter("events").map(([event]) => event)).toEqual(HOOK_EVENTS);
});

test("the example of docs/agents.md is valid", () => {
  const [, text = ""] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  expect(parseYaml(text, "agent.yaml", agentConfigSchema)).toMatchObject({ runtime: "openai", main: true });
});
