import { afterAll, expect, test } from "vitest";

import { startScriptedModel } from "../kit/scriptedModel.js";
import { calling, saying } from "../kit/scriptedModelReplies.js";
import { useScriptedOwner } from "./useScriptedOwner.js";

const model = await startScriptedModel();
afterAll(() => model.close());
const fixture = useScriptedOwner();

const PREFILL = [
  { role: "user", text: "What burns at night?" },
  { role: "assistant", text: "The lamp, as it always has." },
];
const INSTRUCTIONS = "Answer in the words of a lighthouse keeper.";

test("OW41 prefill rows reach the request before the conversation, and are no part of what is stored of it", async () => {
  const reading = { id: "r", name: "read_file", arguments: { path: "no such log" } };
  model.script("prefilled", calling(reading), saying("The lamp is lit."));
  const { attachment } = await fixture.attach();
  attachment.bootstrap("And now?", {
    policy: {
      runtime: "openai",
      model: { model: "prefilled", baseUrl: model.baseUrl },
      instructions: INSTRUCTIONS,
      prefillMessages: PREFILL,
    },
  });
  const { result } = await attachment.next("result");
  expect(result?.finalResponse).toBe("The lamp is lit.");
  const requests = model.of("prefilled");
  expect(requests).toHaveLength(2);
  for (const { body } of requests) {
    const words = body.messages.slice(0, 4).map(({ role, content }) => [role, JSON.stringify(content)] as const);
    expect(words.map(([role]) => role)).toEqual(["system", "user", "assistant", "user"]);
    expect(words[0]?.[1]).toContain(INSTRUCTIONS);
    for (const [at, { text }] of PREFILL.entries()) expect(words[at + 1]?.[1]).toContain(text);
    expect(words[3]?.[1]).toMatch(/earlier.*And now\?/s);
  }

  const { persists } = fixture.owner.store;
  expect(persists.map(({ operation }) => operation?.operation?.$case)).toContain("appendMessages");
  const kept = JSON.stringify([persists, result], (_key, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );
  expect(kept).toContain("The lamp is lit.");
  for (const { text } of PREFILL) expect(kept).not.toContain(text);
  expect(kept).not.toContain(INSTRUCTIONS);
});
