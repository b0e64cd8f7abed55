// Makes what is generated from the code itself: reason.proto, docs/errors.md and docs/configuration.md.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, localBin, root } from "./lib/paths.mjs";
import { run } from "./lib/run.mjs";

/** What is made, by what, and of what: the results included, so that one edited by hand is made again. */
const made = {
  reasons: {
    script: "scripts/generateReasons.ts",
    files: () => [
      ...filesBelow(join(root, "src", "rpc", "reasons")).map((file) => `src/rpc/reasons/${file}`),
      "src/rpc/reasons.ts",
      "src/rpc/reasonsProto.ts",
      "proto/talaria/reason/v1/reason.proto",
      "docs/errors.md",
    ],
  },
  configuration: {
    script: "scripts/generateConfiguration.ts",
    files: () => [
      "src/base/budgets.ts",
      "src/base/config/agentConfigSchema.ts",
      "src/base/config/configurationPage.ts",
      "src/base/config/gatewayConfig.ts",
      "docs/agents.md",
      "docs/configuration.md",
    ],
  },
};

/** @param {keyof typeof made} name */
function digest(name) {
  const hash = createHash("sha256");
  const { script, files } = made[name];
  for (const path of [script, ...files()])
    hash.update(`${path}\0`).update(existsSync(join(root, path)) ? readFileSync(join(root, path)) : "");
  return hash.digest("hex");
}

/**
 * Brings what is made from the code up to date.
 * @param {keyof typeof made} name
 * @returns {Promise<"generated" | "unchanged">} Throws with what the script said where it failed.
 */
export async function generateFromCode(name) {
  if (localBin("tsx") === undefined) throw new Error("tsx is not installed: run npm ci");
  const cache = join(root, "node_modules", ".cache");
  const stamp = join(cache, `${name}.stamp`);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === digest(name)) return "unchanged";
  const { code, output } = await run(process.execPath, ["--import", "tsx", join(root, made[name].script)]);
  if (code !== 0) throw new Error(output.trim());
  mkdirSync(cache, { recursive: true });
  writeFileSync(stamp, digest(name));
  return "generated";
}
