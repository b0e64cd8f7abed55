import { expect, test } from "vitest";

import { MCP_BOUNDS } from "./mcpBounds.js";
import { resultText } from "./resultText.js";

test.each([
  [undefined, "(no content)"],
  [{ content: [{ type: "text", text: "a" }, 7, null, { type: "text", text: "b" }] }, "a\nb"],
  [{ content: [], structuredContent: { a: 1 } }, '{"a":1}'],
  [{ content: [{ type: "audio", data: "AAA=", mimeType: "audio/wav" }] }, "[audio: audio/wav, 2 bytes]"],
  [{ content: [{ type: "resource", resource: { uri: "u", text: "inside" } }] }, "inside"],
  [{ content: [{ type: "resource", resource: { uri: "u", blob: "AAAA" } }] }, "[resource: u, unknown type, 3 bytes]"],
  [{ content: [{ type: "hologram" }] }, "[hologram]"],
])("%j reads %j", (given, text) => {
  expect(resultText(given)).toEqual({ text, isError: false });
});

test("a failed tool says so, and a long result is cut", () => {
  expect(resultText({ isError: true, content: [{ type: "text", text: "no" }] })).toEqual({ text: "no", isError: true });
  const { text } = resultText({ content: [{ type: "text", text: "ä".repeat(MCP_BOUNDS.resultBytes) }] });
  expect(text.endsWith("ä\n[cut: the result was longer]")).toBe(true);
  expect(Buffer.byteLength(text)).toBeLessThan(MCP_BOUNDS.resultBytes + 64);
});
