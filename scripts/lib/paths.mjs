import { existsSync, readdirSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Absolute path of the checkout. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * Absolute path of an installed package's command, or undefined where it is not installed.
 * @param {string} name the command's name
 * @returns {string | undefined}
 */
export function localBin(name) {
  const path = join(root, "node_modules", ".bin", name);
  return existsSync(path) ? path : undefined;
}

/**
 * Every file below a directory, as sorted paths relative to it with forward slashes; empty where the directory is missing.
 * @param {string} directory an absolute path
 * @returns {string[]}
 */
export function filesBelow(directory) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .map((path) => path.split(sep).join("/"))
    .sort();
}
