import { run } from "./lib/run.mjs";

const lineLength = 100;

/**
 * Builds the contract's FileDescriptorSet and returns it as the source of `src/gen/descriptors.ts`, so that server
 * reflection needs no file at run time.
 * @param {string} buf path of the buf command
 * @returns {Promise<string>} TypeScript source. Throws with buf's own output where the contract does not compile.
 */
export async function embedDescriptors(buf) {
  const built = await run(buf, [
    "build",
    "proto",
    "--exclude-source-info",
    "--as-file-descriptor-set",
    "-o",
    "-#format=binpb",
  ]);
  if (built.code !== 0) throw new Error(built.output.trim());
  const base64 = built.stdout.toString("base64");
  const lines = [];
  for (let at = 0; at < base64.length; at += lineLength) lines.push(`  "${base64.slice(at, at + lineLength)}",`);
  return [
    "/** The contract's google.protobuf.FileDescriptorSet, imports included, without source positions. */",
    "export const descriptorSet: Uint8Array = Buffer.from(",
    "  [",
    ...lines.map((line) => `  ${line}`),
    '  ].join(""),',
    '  "base64",',
    ");",
    "",
  ].join("\n");
}
