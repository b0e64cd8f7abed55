import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test as always } from "vitest";

import { outsideTool } from "./outsideTool.js";
import { paths } from "./paths.js";
import { makePythonStubs, type PythonStubs } from "./pythonStubs.js";
import { runTool } from "./runTool.js";
import { TRANSPORTS, useGateway } from "./useGateway.js";

/** How long the Go client may take to be built, milliseconds: its packages are compiled where they have not been before. */
const GO_BUILD_MS = 300_000;

const python = outsideTool("python");
const go = outsideTool("protocGenGo");
const gateway = useGateway();
const scratch = mkdtempSync(join(tmpdir(), "ti-clients-"));
let stubs: PythonStubs | undefined;

if (python.runs) {
  beforeAll(async () => {
    stubs = await makePythonStubs(python.path);
  });
}
if (go.runs) {
  beforeAll(async () => {
    const from = join(paths.clients, "go");
    cpSync(from, scratch, { recursive: true });
    const template = readFileSync(join(from, "buf.gen.yaml"), "utf8").replaceAll("examples/clients/go", scratch);
    writeFileSync(join(scratch, "buf.gen.yaml"), template);
    const env = { PATH: `${paths.tools}:${process.env["PATH"] ?? ""}` };
    const generate = ["generate", "--template", join(scratch, "buf.gen.yaml"), "--path", "proto/talaria"];
    const generated = await runTool(paths.buf, generate, { cwd: paths.root, env });
    expect(generated.code, generated.stderr).toBe(0);
    const built = await runTool("go", ["build", "-o", join(scratch, "client"), "."], {
      cwd: scratch,
      env: { GOFLAGS: "-mod=mod" },
      limitMs: GO_BUILD_MS,
    });
    expect(built.code, built.stderr).toBe(0);
  }, GO_BUILD_MS + 30_000);
}
afterAll(() => {
  stubs?.remove();
  rmSync(scratch, { recursive: true, force: true });
});

const clients = [
  {
    name: "TypeScript",
    file: "typescript/client.ts",
    test: always,
    command: () => [process.execPath, "--import", "tsx", join(paths.clients, "typescript", "client.ts")],
  },
  { name: "Go", file: "go/main.go", test: go.test, command: () => [join(scratch, "client")] },
  {
    name: "Python",
    file: "python/client.py",
    test: python.test,
    command: () => [python.path, join(paths.clients, "python", "client.py")],
  },
] as const;

describe.each(clients)("the $name client", ({ file, test, command }) => {
  const run = (input: string, args: readonly string[], token: string) =>
    runTool("sh", ["-c", `printf '${input}' | "$@"`, "sh", ...command(), ...args], {
      cwd: paths.root,
      env: { TALARIA_TOKEN: token, PYTHONPATH: stubs?.directory, PYTHONDONTWRITEBYTECODE: "1" },
    });

  always("is under 100 lines", () => {
    expect(readFileSync(join(paths.clients, file), "utf8").trimEnd().split("\n").length).toBeLessThan(100);
  });

  describe.each(TRANSPORTS)("over %s", (transport) => {
    const at = () => ({ address: gateway().addresses[transport], token: transport === "tcp" ? gateway().token : "" });

    test.each([
      ["y\\n", "once"],
      ["n\\n", "denied"],
    ])("runs a turn and answers its approval: %j", async (input, expected) => {
      const { address, token } = at();
      const ended = await run(input, [address, "run", "main", "!approve make all"], token);
      expect(ended.code, ended.stderr).toBe(0);
      expect(ended.stdout).toContain("make all? [y/N] ");
      expect(ended.stdout).toContain(expected);
      expect(ended.stdout.trimEnd()).toMatch(/TURN_OUTCOME_COMPLETED$/);
    });

    test("sends a message and watches it to its end", async () => {
      const { address, token } = at();
      const ended = await run("", [address, "send", "main", "Ping"], token);
      expect(ended.code, ended.stderr).toBe(0);
      expect(ended.stdout.trimEnd()).toMatch(/DELIVERY_STATE_REPLIED Ping$/);
    });

    test("says why it was refused", async () => {
      const { address, token } = at();
      const ended = await run("", [address, "send", "nobody-here", "Ping"], token);
      expect(ended.code).not.toBe(0);
      expect(ended.stderr).toMatch(/NOT_FOUND|NotFound|UNKNOWN_TARGET/);
    });
  });
});
