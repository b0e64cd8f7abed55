import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "prettier";
import { CONFIGURATION_PAGE_PATH, renderConfigurationPage } from "../src/base/config/configurationPage.js";

// Run from anywhere: node --import tsx scripts/generateConfiguration.ts
const at = (...path) => join(import.meta.dirname, "..", ...path);

const page = renderConfigurationPage({
  budgets: readFileSync(at("src", "base", "budgets.ts"), "utf8"),
  agents: readFileSync(at("docs", "agents.md"), "utf8"),
});
writeFileSync(at(CONFIGURATION_PAGE_PATH), await format(page, { parser: "markdown", printWidth: 120 }));
