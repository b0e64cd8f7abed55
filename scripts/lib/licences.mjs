import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./paths.mjs";

/**
 * The folders of the packages that files belong to, sorted.
 * @param {readonly string[]} files paths relative to the checkout
 * @returns {string[]}
 */
export function packagesOf(files) {
  const folders = files.map((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? "");
  return [...new Set(folders)].filter((folder) => folder !== "").sort();
}

/**
 * The licence texts of the packages whose code is in built files, as one text to be handed on with them.
 * @param {readonly string[]} files what was built from: paths relative to the checkout
 * @returns {string}
 */
export function licencesOf(files) {
  const parts = packagesOf(files).map((folder) => {
    const { name, version, license, author } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const texts = readdirSync(join(root, folder))
      .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
      .sort()
      .map((file) => readFileSync(join(root, folder, file), "utf8").trim());
    const by = typeof author === "string" ? author : (author?.name ?? "its authors");
    return [`${name} ${version} (${license})`, ...(texts.length > 0 ? texts : [`Copyright ${by}.`])].join("\n\n");
  });
  const first = "The files in this folder contain code of the packages below, under the licences that follow.";
  return `${[first, ...parts].join(`\n\n${"=".repeat(80)}\n\n`)}\n`;
}
