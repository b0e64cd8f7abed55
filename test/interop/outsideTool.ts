import { spawnSync } from "node:child_process";
import { test, type TestAPI } from "vitest";

import { paths } from "./paths.js";

/** An outside client that need not be on the machine. */
export interface OutsideTool {
  /** Path of its program, also when it is missing. */
  readonly path: string;
  /** Whether its tests run: it is there, or its absence is a failure. */
  readonly runs: boolean;
  /** `test`, or `test.skip` where the tool is missing and may be. */
  readonly test: TestAPI | TestAPI["skip"];
}

/** Arguments with which each tool ends with 0 when it is usable. */
const PROBES = {
  grpcurl: ["-version"],
  protocGenGo: ["--version"],
  python: ["-c", "import grpc, grpc_tools.protoc, grpc_reflection"],
  acpAgent: ["--version"],
} as const satisfies Record<string, readonly string[]>;

/**
 * Looks for a tool in `.tools`. Where it is missing its tests are skipped with a visible line; with
 * TALARIA_INTEROP_REQUIRED=1 they run, and fail because the tool is missing.
 */
export function outsideTool(name: keyof typeof PROBES): OutsideTool {
  const path = paths[name];
  const found = spawnSync(path, PROBES[name], { stdio: "ignore" }).status === 0;
  const runs = found || process.env["TALARIA_INTEROP_REQUIRED"] === "1";
  if (!found) {
    const what = runs ? "FAILED" : "SKIPPED";
    process.stderr.write(
      `\n${what}: no usable ${name} in .tools; run scripts/installInteropTools.sh to put it there.\n`,
    );
  }
  return { path, runs, test: runs ? test : test.skip };
}
