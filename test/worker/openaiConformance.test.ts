import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

import { writeHome } from "../kit/homeFiles.js";
import { startScriptedModel } from "../kit/scriptedModel.js";
import { refusing, saying } from "../kit/scriptedModelReplies.js";
import { useTestGateway } from "../kit/useTestGateway.js";

const model = await startScriptedModel();
const openai = { runtime: "openai", base_url: model.baseUrl, api_key_env: "SCRIPTED_KEY" };
const home = writeHome({
  agents: {
    primary: { ...openai, model: "primary", fallback_models: [{ model: "backup", base_url: model.baseUrl }] },
    instructed: { ...openai, model: "instructed" },
  },
});
const INSTRUCTIONS = "Answer in the words of a lighthouse keeper.";
writeFileSync(join(home, "agents", "instructed", "instructions.md"), INSTRUCTIONS);
// Hooks run last first: the home goes after its gateway.
afterAll(async () => {
  await model.close();
  rmSync(home, { recursive: true, force: true });
});
const gateway = useTestGateway({ home, env: { ...process.env, SCRIPTED_KEY: "sk-scripted-conformance" } });

test("OW40 a primary model whose quota is used up falls back to the configured one, and the receipt says so", async () => {
  const used = { error: { message: "You exceeded your current quota", code: "insufficient_quota" } };
  model.script("primary", refusing(429, used));
  model.script("backup", saying("From the backup."));
  const ended = await gateway().client.run("primary", "hello").outcome();
  expect(ended).toMatchObject({ outcome: "COMPLETED", answer: "From the backup." });
  expect(ended.turn.result).toMatchObject({ completed: true, model: "backup", requestedModel: "primary" });
});

test("OW41 configured instructions reach the request, and are no part of what is stored of the conversation", async () => {
  model.script("instructed", saying("The lamp is lit."));
  const ended = await gateway().client.run("instructed", "hello").outcome();
  expect(ended.answer).toBe("The lamp is lit.");
  const [request] = model.of("instructed");
  expect(JSON.stringify(request?.body.messages[0])).toContain(INSTRUCTIONS);
  const rows = gateway().rows<{ text: string }>("SELECT text FROM messages WHERE text LIKE ?", `%${INSTRUCTIONS}%`);
  expect(rows).toEqual([]);
});
