import { expect, test } from "vitest";

import { textOfBlock, toolResult, toolView } from "./toolView.js";

test("a tool is called by its name, else by its kind; its title stands among the arguments", () => {
  const call = { toolCallId: "t", title: "Read a.txt", rawInput: { path: "a.txt" } };
  expect(toolView({ ...call, name: "read_file", kind: "read" })).toEqual({
    name: "read_file",
    arguments: { title: "Read a.txt", path: "a.txt" },
  });
  expect(toolView({ ...call, kind: "read" }).name).toBe("read");
  expect(toolView({ toolCallId: "t", rawInput: "text" })).toEqual({ name: "tool", arguments: {} });
});

test("a result is the content as text, else the raw output", () => {
  const text = { type: "content" as const, content: { type: "text" as const, text: "seen" } };
  const diff = { type: "diff" as const, path: "a.txt", newText: "x" };
  expect(toolResult({ toolCallId: "t", content: [text, diff], rawOutput: "raw" })).toBe("seen\na.txt was changed.");
  expect(toolResult({ toolCallId: "t", rawOutput: "raw" })).toBe("raw");
  expect(toolResult({ toolCallId: "t", content: [], rawOutput: { code: 0 } })).toBe('{"code":0}');
  expect(toolResult({ toolCallId: "t" })).toBe("");
});

test("what is no text is named", () => {
  expect(textOfBlock({ type: "image", data: "", mimeType: "image/png" })).toBe("[image]");
  expect(textOfBlock({ type: "resource_link", name: "a", uri: "file:///a" })).toBe("[a](file:///a)");
});
