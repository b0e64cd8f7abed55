import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "prettier";
import { expect, test } from "vitest";

import {
  CONFIGURATION_PAGE_PATH,
  ENVIRONMENT_VARIABLES,
  renderConfigurationPage,
} from "../../src/base/config/configurationPage.js";

test("docs/configuration.md is what the schemas say: npm run generate writes it", async () => {
  const [budgets, agents] = ["src/base/budgets.ts", "docs/agents.md"].map((file) => readFileSync(file, "utf8"));
  const page = renderConfigurationPage({ budgets: budgets ?? "", agents: agents ?? "" });
  const formatted = await format(page, { parser: "markdown", printWidth: 120 });
  expect(readFileSync(CONFIGURATION_PAGE_PATH, "utf8")).toBe(formatted);
});

test("a setting of which nothing is said makes no page", () => {
  expect(() => renderConfigurationPage({ budgets: "", agents: "" })).toThrow(
    "nothing says what budgets.hello_ms means",
  );
});

test("the page names every variable of the environment that the code names, and no other of ours", () => {
  const named = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !file.startsWith("gen"))
    .filter((file) => file !== join("base", "config", "configurationPage.ts"))
    .flatMap((file) => readFileSync(join("src", file), "utf8").match(/\b_?TALARIA_[A-Z_]+\b/g) ?? []);
  const ours = Object.keys(ENVIRONMENT_VARIABLES).filter((name) => name.includes("TALARIA"));
  expect([...new Set(named)].sort()).toEqual(ours.sort());
});
