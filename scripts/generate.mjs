// Generates src/gen from proto/, and what is made from the code itself. Skips what has not changed.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { embedDescriptors } from "./embedDescriptors.mjs";
import { generateFromCode } from "./generateFromCode.mjs";
import { filesBelow, localBin, root } from "./lib/paths.mjs";
import { run } from "./lib/run.mjs";

const output = join(root, "src", "gen");
const stampPath = join(output, ".stamp");

/** A digest of everything that decides the generated code: contract, settings, these scripts and the generator's versions. */
function inputDigest() {
  const hash = createHash("sha256");
  const inputs = [
    ...filesBelow(join(root, "proto"))
      .filter((path) => path.endsWith(".proto"))
      .map((path) => `proto/${path}`),
    "buf.yaml",
    "buf.gen.yaml",
    "scripts/generate.mjs",
    "scripts/embedDescriptors.mjs",
    "node_modules/ts-proto/package.json",
    "node_modules/@bufbuild/buf/package.json",
  ];
  for (const path of inputs)
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update("\0");
  return hash.digest("hex");
}

/** A digest of the generated files themselves, so that one edited or deleted by hand is made again. */
function outputDigest() {
  const hash = createHash("sha256");
  for (const path of filesBelow(output)) {
    if (path.endsWith(".ts"))
      hash
        .update(`${path}\0`)
        .update(readFileSync(join(output, path)))
        .update("\0");
  }
  return hash.digest("hex");
}

/**
 * Writes a file by renaming, and only where its content differs, so that concurrent readers see whole files.
 * @param {string} path
 * @param {Buffer} content
 */
function place(path, content) {
  if (existsSync(path) && readFileSync(path).equals(content)) return;
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, content);
  renameSync(temporary, path);
}

/**
 * Brings src/gen up to date.
 * @returns {Promise<"generated" | "unchanged" | "no tools">} "no tools" where buf or ts-proto is not installed. Throws
 *   with the tool's output where the contract does not compile.
 */
export async function generate() {
  const buf = localBin("buf");
  if (buf === undefined || localBin("protoc-gen-ts_proto") === undefined) return "no tools";
  const inputs = inputDigest();
  if (existsSync(stampPath) && readFileSync(stampPath, "utf8") === `${inputs} ${outputDigest()}\n`) return "unchanged";

  const cache = join(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const scratch = mkdtempSync(join(cache, "generate-"));
  try {
    const [generated, descriptors] = await Promise.all([run(buf, ["generate", "-o", scratch]), embedDescriptors(buf)]);
    if (generated.code !== 0) throw new Error(generated.output.trim());
    const from = join(scratch, "src", "gen");
    const files = filesBelow(from);
    for (const path of files) place(join(output, path), readFileSync(join(from, path)));
    place(join(output, "descriptors.ts"), Buffer.from(descriptors));
    const kept = new Set([...files, "descriptors.ts"]);
    for (const path of filesBelow(output))
      if (path.endsWith(".ts") && !kept.has(path)) rmSync(join(output, path), { force: true });
    place(stampPath, Buffer.from(`${inputs} ${outputDigest()}\n`));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return "generated";
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const began = performance.now();
  try {
    // The registry of reasons is part of the contract, which the code is made from.
    const fromCode = [await generateFromCode("reasons")];
    const outcome = await generate();
    if (outcome === "no tools") throw new Error("buf and ts-proto are not installed: run npm ci");
    fromCode.push(await generateFromCode("configuration"));
    const pages = fromCode.includes("generated") ? "generated" : "unchanged";
    console.log(`generate: code ${outcome}, pages ${pages} in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  } catch (error) {
    console.error(`generate: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
