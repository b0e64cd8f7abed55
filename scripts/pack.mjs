// Packs what is published, from a build of its own: the `dist` of the checkout may be in use, and may hold files of earlier builds.
// Usage: node scripts/pack.mjs FOLDER; prints the tarball's path.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "./build.mjs";
import { localBin, root } from "./lib/paths.mjs";
import { run } from "./lib/run.mjs";

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string }} [options]
 */
async function must(command, args, options) {
  const { code, output } = await run(command, args, options);
  if (code !== 0) throw new Error(`${command} ${args.join(" ")}: ${output}`);
}

/**
 * Builds and packs.
 * @param {string} folder an absolute path, where the tarball goes
 * @returns {Promise<string>} the tarball's path. Throws where something does not build.
 */
export async function pack(folder) {
  const stage = mkdtempSync(join(tmpdir(), "talaria-pack-"));
  try {
    const { files, name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const copied = files.filter((file) => file !== "dist" && !file.startsWith("!"));
    for (const file of ["package.json", ...copied]) cpSync(join(root, file), join(stage, file), { recursive: true });
    if ((await build({ into: stage })) === "no tools") throw new Error("esbuild is not installed: run npm ci");
    await must(localBin("tsc") ?? "tsc", ["-p", "tsconfig.sdk.json", "--outDir", join(stage, "dist", "types")]);
    mkdirSync(folder, { recursive: true });
    await must("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], { cwd: stage });
    return join(folder, `${name}-${version}.tgz`);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    console.log(await pack(resolve(process.argv[2] ?? ".")));
  } catch (error) {
    console.error(`pack: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
