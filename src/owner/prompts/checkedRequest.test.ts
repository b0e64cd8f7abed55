import { expect, test } from "vitest";

import { ApprovalRequest, ClarifyRequest } from "../../gen/talaria/types/v1/prompt.js";
import { checkedRequest, type RaisedPrompt } from "./checkedRequest.js";

const approval = (request: Parameters<typeof ApprovalRequest.fromPartial>[0], promptId = "p"): RaisedPrompt => ({
  $case: "approval",
  value: { promptId, request: ApprovalRequest.fromPartial(request) },
});
const clarify = (request: Parameters<typeof ClarifyRequest.fromPartial>[0]): RaisedPrompt => ({
  $case: "clarify",
  value: { promptId: "p", request: ClarifyRequest.fromPartial(request) },
});
// Each counts as one code point and has four bytes.
const text = (length: number): string => "\u{1F600}".repeat(length);

test("a prompt at its bounds is taken as it is", () => {
  const largest = approval({
    command: text(16_384),
    description: text(4_096),
    edit: { path: text(4_096), diff: text(65_536) },
  });
  expect(checkedRequest(largest)).toEqual({ $case: "approval", value: largest.value.request });
  const choices = Array.from({ length: 16 }, () => text(256));
  const longest = clarify({ question: { questionId: text(64), text: text(4_096), choices }, position: 16, total: 16 });
  expect(checkedRequest(longest)).toEqual({ $case: "clarify", value: longest.value.request });
});

test.each<[string, RaisedPrompt]>([
  ["a command", approval({ command: text(16_385) })],
  ["a description", approval({ description: text(4_097) })],
  ["a path", approval({ edit: { path: text(4_097) } })],
  ["a diff", approval({ edit: { diff: text(65_537) } })],
  ["an id", approval({}, "p".repeat(65))],
  ["a question's id", clarify({ question: { questionId: text(65) } })],
  ["a question", clarify({ question: { text: text(4_097) } })],
  ["a choice", clarify({ question: { choices: [text(257)] } })],
  ["a list of choices", clarify({ question: { choices: Array.from({ length: 17 }, () => "a") } })],
  ["a batch", clarify({ total: 17 })],
])("%s over its bound breaks the contract", (_, raised) => {
  expect(() => checkedRequest(raised)).toThrow(expect.objectContaining({ reason: "FRAME_INVALID" }) as Error);
});
