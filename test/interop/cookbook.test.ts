import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";

import { readCookbook } from "./cookbook.js";
import { outsideTool } from "./outsideTool.js";
import { paths } from "./paths.js";
import { runTool } from "./runTool.js";
import { useGateway } from "./useGateway.js";

const { test, runs } = outsideTool("grpcurl");
const gateway = useGateway({ when: runs });
const recipes = readCookbook(readFileSync(paths.cookbook, "utf8"));
let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ti-bin-"));
  const command = join(folder, "talaria");
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${paths.command}" "$@"\n`);
  chmodSync(command, 0o755);
  writeFileSync(join(folder, "variables"), "");
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the commands as the reader would, in a shell that has the variables of the recipes before. */
function runRecipe(commands: string): ReturnType<typeof runTool> {
  const shell = join(folder, "variables");
  const remember = `trap 'declare -p SOCKET TCP TOKEN DELIVERY 2>/dev/null >"${shell}" || :' EXIT`;
  return runTool("bash", ["-c", `set -eo pipefail\nsource "${shell}"\n${remember}\nexec 2>&1\n${commands}`], {
    cwd: paths.root,
    env: {
      TALARIA_HOME: gateway().home,
      TCP: gateway().addresses.tcp,
      PATH: [folder, dirname(paths.grpcurl), paths.binaries, process.env["PATH"]].join(delimiter),
    },
  });
}

test("the cookbook has recipes, and says what comes for all but the first", () => {
  expect(recipes.length).toBeGreaterThan(10);
  expect(recipes.slice(1).filter(({ expected }) => expected.length === 0)).toEqual([]);
});

test("every recipe of the cookbook does what it says", async () => {
  for (const { commands, exit, expected } of recipes) {
    const { code, stdout } = await runRecipe(commands);
    expect(code, `${commands}\n${stdout}`).toBe(exit);
    let rest = stdout;
    for (const line of expected) {
      const at = rest.indexOf(line);
      expect(at, `${commands}\nmisses ${line} in\n${stdout}`).toBeGreaterThanOrEqual(0);
      rest = rest.slice(at + line.length);
    }
  }
});
