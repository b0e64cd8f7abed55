import fc from "fast-check";
import { expect, test } from "vitest";
import { DIRECTIVES } from "./directives.js";
import { parseDirective } from "./parseDirective.js";
import { parseScript } from "./parseScript.js";
import { wordsOf } from "./streamSteps.js";

test("a text without directives is one step that holds it unchanged, whatever it is", () => {
  const line = fc.string({ unit: "binary" }).filter((text) => !text.startsWith("!") && !text.includes("\n!"));
  fc.assert(
    fc.property(line, (text) => {
      expect(parseScript(text)).toEqual([{ kind: "text", text }]);
      expect(wordsOf(text).join("")).toBe(text);
    }),
  );
});

test("no input makes the parser throw, and every line is accounted for", () => {
  const verb = fc.constantFrom(...Object.keys(DIRECTIVES), "dance", "");
  const line = fc.oneof(
    fc.string(),
    fc.tuple(verb, fc.string()).map(([word, rest]) => `!${word} ${rest}`),
  );
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const text = lines.join("\n");
      const steps = parseScript(text);
      const directives = text.split("\n").filter((one) => one.startsWith("!")).length;
      const found = steps.reduce((sum, step) => {
        if (step.kind === "text") return sum;
        return sum + (step.kind === "directive" && step.directive.verb === "ask" ? step.directive.questions.length : 1);
      }, 0);
      expect(found).toBe(directives);
    }),
  );
});

test.each([
  ['tool f {"a":"x => y"} => z => w', { verb: "tool", name: "f", arguments: { a: "x => y" }, result: "z => w" }],
  ["tool f => r", { verb: "tool", name: "f", arguments: {}, result: "r" }],
  ["tool-error f", { verb: "tool-error", name: "f", arguments: {}, result: "" }],
  ["ask Q? | a | b", { verb: "ask", questions: [{ text: "Q?", choices: ["a", "b"] }] }],
  ["dm bob  hello there", { verb: "dm", target: "bob", body: "hello there" }],
  ["hold 8", { verb: "hold", mebibytes: 8 }],
  ["flood 5", { verb: "flood", count: 5, burst: 1, bytes: 32 }],
  ["crash", { verb: "crash", how: { signal: "SIGKILL" } }],
  ["crash 7", { verb: "crash", how: { code: 7 } }],
  ["usage 1 -2 Infinity", { verb: "usage", inputTokens: 1, outputTokens: -2, costUsd: Infinity }],
  ["say !x", { verb: "say", text: "!x" }],
])("!%s", (line, directive) => {
  expect(parseDirective(line)).toEqual(directive);
});

test.each([
  "tool f [1] => r",
  "tool",
  "sleep -1",
  "sleep soon",
  "hold 5000",
  "flood 1 0",
  "crash SIGNOPE",
  "fail NOPE x",
  "silent now",
  "repeat 9 ",
])("!%s is answered with how it is written", (line) => {
  expect(parseDirective(line)).toMatch(/is written: !/);
});
