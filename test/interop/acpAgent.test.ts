import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect } from "vitest";

import { ApprovalChoice } from "../../src/gen/talaria/types/v1/prompt.js";
import { startScriptedModel } from "../kit/scriptedModel.js";
import { calling, saying } from "../kit/scriptedModelReplies.js";
import type { UpdateLog } from "../kit/turnClient.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { outsideTool } from "./outsideTool.js";

const MODEL = "scripted";
const tool = outsideTool("acpAgent");
/** The agent is a large program: under load its start alone takes tens of seconds. */
const SLOW = { timeout: 150_000 };

const eventsOf = (run: UpdateLog) =>
  run.items.flatMap(({ update }) => (update?.$case === "events" ? update.value.events : [])).map(({ event }) => event);

/** Waits for the end of a turn for longer than usual. */
const over = (run: UpdateLog): Promise<true> =>
  run.until("end of the turn", () => (run.kinds.includes("turnEnded") ? true : undefined), 120_000);

describe("a public agent of the Agent Client Protocol", async () => {
  const { test } = tool;
  if (!tool.runs) {
    test("runs a turn, asks for permission, writes a file and is stopped", () => undefined);
    return;
  }
  const model = await startScriptedModel();
  const agentHome = mkdtempSync(join(tmpdir(), "ti-acp-"));
  mkdirSync(join(agentHome, ".qwen"));
  const settings = { privacy: { usageStatisticsEnabled: false }, general: { disableAutoUpdate: true } };
  writeFileSync(join(agentHome, ".qwen", "settings.json"), JSON.stringify(settings));
  const env = {
    HOME: agentHome,
    OPENAI_API_KEY: "scripted-key-90210",
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: MODEL,
  };
  const coder = { runtime: "acp", worker: { command: [tool.path, "--acp"], env } };
  const gateway = useTestGateway({
    agents: { coder },
    budgets: { stopTermAfterMs: 8_000, stopKillAfterMs: 9_000, stopTotalMs: 12_000, drainMs: 20_000 },
  });
  afterAll(async () => {
    await model.close();
    rmSync(agentHome, { recursive: true, force: true });
  });

  test("streams what its model says and answers with it", SLOW, async () => {
    model.script(MODEL, saying("The sky is blue."));
    const run = gateway().client.run("coder", "What colour is the sky?");
    await over(run);
    expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "The sky is blue." });
    expect(run.text).toBe("The sky is blue.");
    const asked = model.of(MODEL).at(-1);
    expect(asked?.headers.authorization).toBe("Bearer scripted-key-90210");
    expect(JSON.stringify(asked?.body.messages)).toContain("What colour is the sky?");
  });

  test("asks for permission through a person, then writes its file, and its call is a tool event", SLOW, async () => {
    const { client, rows } = gateway();
    const written = { file_path: join(gateway().home, "agents", "coder", "workspace", "sky.txt"), content: "blue\n" };
    model.script(
      MODEL,
      calling({ id: "call_1", name: "write_file", arguments: written }),
      saying("I have written it down."),
    );
    const run = client.run("coder", "Write down the colour of the sky.");
    const prompt = await run.until(
      "prompt",
      () => run.items.find(({ update }) => update?.$case === "promptRaised")?.update,
      120_000,
    );
    if (prompt.$case !== "promptRaised") throw new Error("no prompt");
    await client.choose(prompt.value.promptId, ApprovalChoice.APPROVAL_CHOICE_ONCE);
    await over(run);
    expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "I have written it down." });
    const kinds = eventsOf(run).map((event) => event?.$case);
    expect(kinds.slice(0, 2)).toEqual(["toolStarted", "toolCompleted"]);
    expect(readFileSync(written.file_path, "utf8")).toBe("blue\n");
    expect(rows("SELECT 1 FROM messages WHERE text LIKE 'I have written it down.'")).toHaveLength(1);
  });

  test("is stopped in the middle of its model's answer, and nothing of it is left", SLOW, async () => {
    const { client } = gateway();
    // An answer without an end.
    model.script(MODEL, (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(
        `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: MODEL, choices: [{ index: 0, delta: { role: "assistant", content: "Once upon " } }] })}\n\n`,
      );
    });
    const run = client.run("coder", "Tell a story.");
    await run.until("text", () => (run.text.includes("Once upon") ? true : undefined), 120_000);
    await client.stop(await run.started());
    expect((await run.outcome()).outcome).toBe("INTERRUPTED");
  });
});
