import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { startScriptedModel } from "../kit/scriptedModel.js";
import { saying } from "../kit/scriptedModelReplies.js";
import { serve, talaria, temporaryHome } from "./useTalaria.js";

/** Commands that follow one another in one test, each a process of its own. */
const MANY_COMMANDS = { timeout: 120_000 };

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

function writeAgent(home: string, name: string, agent: object): void {
  const folder = join(home, "agents", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "agent.yaml"), JSON.stringify(agent));
  writeFileSync(join(folder, "instructions.md"), "Be brief.");
}

interface Shown {
  readonly sessionId: string;
  readonly title?: string;
  readonly policy: Readonly<Record<string, unknown>>;
}

test("what a session is created without is frozen into it", MANY_COMMANDS, async () => {
  const home = temporaryHome();
  writeAgent(home, "main", { runtime: "echo", main: true, approvals: "allow" });
  await serve(home);
  const at = ["--home", home, "--json"];
  const made = async (...flags: readonly string[]): Promise<Shown> =>
    JSON.parse((await talaria(...at, "sessions", "new", "main", ...flags)).stdout) as Shown;
  const whole = await made("--title", "notes");
  expect(whole).toMatchObject({ title: "notes", policy: { instructions: "Be brief." } });
  expect(whole.policy).not.toHaveProperty("safeMode");
  expect((await made("--safe-mode")).policy).toMatchObject({ safeMode: true, ignoreUserConfig: true });
  expect((await made("--ignore-user-config")).policy).toMatchObject({ ignoreUserConfig: true });
  expect((await made("--ignore-rules")).policy).not.toHaveProperty("instructions");

  const flags = ["--ignore-rules", "--ignore-user-config", "--safe-mode", "--title", "bare", "--request-id", "bare-1"];
  const run = ["--home", home, "run", "main", "Hello", ...flags];
  for (const time of ["first", "again"]) expect((await talaria(...run)).stdout, time).toBe("Hello\n");
  const listed = JSON.parse((await talaria(...at, "sessions")).stdout) as readonly Shown[];
  const bare = listed.filter(({ title }) => title === "bare");
  expect(bare).toHaveLength(1);
  const exported = await talaria(...at, "sessions", "export", bare[0]?.sessionId ?? "");
  const parts = exported.stdout.trim().split("\n");
  const { session } = JSON.parse(parts[0] ?? "") as { session: Shown };
  expect(session.policy).toMatchObject({ ignoreRules: true, ignoreUserConfig: true, safeMode: true });
  expect(parts.filter((part) => "turn" in (JSON.parse(part) as object))).toHaveLength(1);

  const frozen = await talaria("--home", home, "run", "main", "Hello", "--session", session.sessionId, "--safe-mode");
  expect(frozen).toMatchObject({ code: 64, stdout: "" });
  expect(frozen.stderr).toContain("--safe-mode");
});

test("attached images reach the model beside the text", MANY_COMMANDS, async () => {
  const model = await startScriptedModel();
  try {
    const home = temporaryHome();
    writeAgent(home, "seer", model.agent("seeing"));
    await serve(home);
    const file = (name: string, content: Buffer): string => {
      writeFileSync(join(home, name), content);
      return join(home, name);
    };
    const [one, two] = [file("one.png", PIXEL), file("two.gif", Buffer.from("GIF89a, as it begins"))];
    model.script("seeing", saying("Two pictures."));
    const run = ["--home", home, "run", "seer", "--attach", one, "--attach", two, "What is this?"];
    const keyed = [...run, "--request-id", "look-1"];
    expect(await talaria(...keyed)).toMatchObject({ code: 0, stdout: "Two pictures.\n" });
    expect(await talaria(...keyed)).toMatchObject({ code: 0, stdout: "Two pictures.\n" });
    expect(model.of("seeing").map(({ body }) => body.messages.at(-1)?.content)).toEqual([
      [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL.toString("base64")}` } },
        expect.objectContaining({ type: "image_url" }),
      ],
    ]);

    const refusal = async (...files: readonly string[]) => {
      const flags = files.flatMap((name) => ["--attach", name]);
      const { code, stderr } = await talaria("--home", home, "run", "seer", ...flags, "What is this?");
      return `${String(code)} ${stderr.split("\n")[0] ?? ""}`;
    };
    expect(await refusal(file("text.txt", Buffer.from("no image")))).toMatch(/^64 INVALID_FIELD: .* is no image/);
    expect(await refusal(join(home, "none.png"))).toMatch(/^66 NOT_FOUND: .* cannot be read: ENOENT\.$/);
    expect(await refusal(...Array<string>(11).fill(one))).toBe("64 INVALID_FIELD: 11 files are attached.");
    expect(model.of("seeing")).toHaveLength(1);
  } finally {
    await model.close();
  }
});

test("an answer that no single message carries is printed, shown and exported whole", MANY_COMMANDS, async () => {
  const { home } = await serve();
  const answer = "12345".repeat(1_000_000);
  const ran = await talaria("--home", home, "run", "main", "!repeat 1000000 12345");
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(ran.stdout === `${answer}\n`).toBe(true);
  const [{ sessionId }] = JSON.parse((await talaria("--home", home, "--json", "sessions")).stdout) as [Shown];
  for (const command of ["show", "export"]) {
    const { code, stdout } = await talaria("--home", home, "sessions", command, sessionId);
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThan(answer.length);
  }
});
