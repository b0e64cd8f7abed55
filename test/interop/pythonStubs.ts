import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { paths } from "./paths.js";
import { runTool } from "./runTool.js";

/** Stubs of the contract for Python programs. */
export interface PythonStubs {
  /** Folder for PYTHONPATH. */
  readonly directory: string;
  remove(): void;
}

/** Makes the stubs in a folder of their own. @throws Error with protoc's words where it fails. */
export async function makePythonStubs(python: string): Promise<PythonStubs> {
  const directory = mkdtempSync(join(tmpdir(), "ti-stubs-"));
  const files = readdirSync(paths.proto, { recursive: true, encoding: "utf8" }).filter((file) =>
    /^(?:talaria|google)\/.*\.proto$/.test(file),
  );
  const out = [`--python_out=${directory}`, `--grpc_python_out=${directory}`];
  const made = await runTool(python, ["-m", "grpc_tools.protoc", "-I", paths.proto, ...out, ...files]);
  if (made.code !== 0) throw new Error(`protoc failed: ${made.stderr}`);
  return {
    directory,
    remove() {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
