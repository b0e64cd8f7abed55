import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

import { reasonNumber } from "../../src/rpc/reasonNumber.js";
import { startScriptedModel } from "../kit/scriptedModel.js";
import { saying } from "../kit/scriptedModelReplies.js";
import { useScriptedOwner } from "./useScriptedOwner.js";

const model = await startScriptedModel();
afterAll(() => model.close());
const fixture = useScriptedOwner();

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

async function ask(name: string, change: object = {}) {
  const path = join(fixture.owner.directory, `${name}.png`);
  writeFileSync(path, PIXEL);
  const { worker, attachment } = await fixture.attach();
  await attachment.next("hello");
  attachment.bootstrap("", {
    policy: { runtime: "openai", model: { model: name, baseUrl: model.baseUrl } },
    input: {
      inputId: `inp_${"0".repeat(26)}`,
      text: "What is this?",
      attachments: [
        {
          attachmentId: "att_1",
          mediaType: "image/png",
          sizeBytes: BigInt(PIXEL.length),
          sha256: createHash("sha256").update(PIXEL).digest(),
          path,
          ...change,
        },
      ],
    },
  });
  const { result } = await attachment.next("result");
  attachment.send({ $case: "finish", value: {} });
  await attachment.next("finished");
  attachment.end();
  await worker.exited();
  return result;
}

test("an image is checked and goes to the model beside the text", async () => {
  model.script("seeing", saying("A pixel."));
  expect((await ask("seeing"))?.finalResponse).toBe("A pixel.");
  const [request] = model.of("seeing");
  expect(request?.body.messages.at(-1)).toEqual({
    role: "user",
    content: [
      { type: "text", text: "earlier\n\nWhat is this?" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL.toString("base64")}` } },
    ],
  });
});

test("an image that is not what was uploaded fails the turn before anything is asked", async () => {
  const other = await ask("other", { sha256: Buffer.alloc(32) });
  expect(other).toMatchObject({ failed: true, failureReason: reasonNumber("ATTACHMENT_DIGEST_MISMATCH") });
  const gone = await ask("gone", { path: join(fixture.owner.directory, "none.png") });
  expect(gone).toMatchObject({ failed: true, failureReason: reasonNumber("UNKNOWN_ATTACHMENT") });
  const text = await ask("text", { mediaType: "text/plain" });
  expect(text).toMatchObject({ failed: true, failureReason: reasonNumber("INVALID_FIELD") });
  expect([...model.of("other"), ...model.of("gone"), ...model.of("text")]).toEqual([]);
});
