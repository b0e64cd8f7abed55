import { expect, test } from "vitest";

import { AuthorKind } from "../../../gen/talaria/types/v1/author.js";
import { ConversationMessage, MessageRole } from "../../../gen/talaria/types/v1/conversation.js";
import { NO_RESULT } from "./pairToolCalls.js";
import { promptOf, type PromptParts } from "./promptOf.js";

const { MESSAGE_ROLE_USER: USER, MESSAGE_ROLE_ASSISTANT: ASSISTANT, MESSAGE_ROLE_TOOL: TOOL } = MessageRole;
const SYSTEM = MessageRole.MESSAGE_ROLE_SYSTEM;

const row = (number: number, role: MessageRole, text: string, more: Partial<ConversationMessage> = {}) =>
  ConversationMessage.fromPartial({ row: BigInt(number), role, text, executionId: "exe_old", ...more });
const calls = (...ids: string[]) => ({
  toolCalls: ids.map((toolCallId) => ({ toolCallId, name: "look", argumentsJson: '{"a":1}' })),
});
const answer = (toolCallId: string) => ({ toolCallId, toolName: "look" });
const own = { executionId: "exe_own" };

const parts = (rows: readonly ConversationMessage[], more: Partial<PromptParts> = {}): PromptParts => ({
  instructions: [],
  prefill: [],
  rows,
  executionId: "exe_own",
  attempt: 1,
  text: "the input",
  images: [],
  ...more,
});

/** Messages as short texts. */
function shown(given: PromptParts): readonly string[] {
  return promptOf(given).map((message) => {
    if (message.role === "system") return `system: ${message.content}`;
    const content = message.content.map((part) => {
      switch (part.type) {
        case "text":
          return part.text;
        case "reasoning":
          return `(${part.text})`;
        case "tool-call":
          return `<${part.toolCallId} ${String(part.input)}>`;
        case "tool-result":
          return `${part.toolCallId}=${part.output.type === "text" ? part.output.value : "?"}`;
        default:
          return part.type;
      }
    });
    return `${message.role}: ${content.join(" ")}`;
  });
}

test("instructions and prefill come first, the input last and with its images", () => {
  const given = parts([row(1, USER, "as stored", own)], {
    instructions: ["Be kind.", "  ", "Teammates: none."],
    prefill: [
      { role: "user", text: "example" },
      { role: "assistant", text: "shown" },
    ],
    images: [{ mediaType: "image/png", data: Uint8Array.of(1) }],
  });
  expect(shown(given)).toEqual([
    "system: Be kind.\n\nTeammates: none.",
    "user: example",
    "assistant: shown",
    "user: the input file",
  ]);
});

test("a turn's own calls and thoughts follow its input; earlier thoughts are gone", () => {
  const rows = [
    row(1, USER, "first"),
    row(2, ASSISTANT, "", { ...calls("a"), reasoning: "old thought" }),
    row(3, TOOL, "A", answer("a")),
    row(4, ASSISTANT, "answer one"),
    row(5, USER, "as stored", own),
    row(6, ASSISTANT, "let me see", { ...own, ...calls("b", "c"), reasoning: "thought" }),
    row(7, TOOL, "C", { ...own, ...answer("c") }),
    row(8, TOOL, "B", { ...own, ...answer("b") }),
  ];
  expect(shown(parts(rows))).toEqual([
    "user: first",
    'assistant: <a {"a":1}>',
    "tool: a=A",
    "assistant: answer one",
    "user: the input",
    'assistant: (thought) let me see <b {"a":1}> <c {"a":1}>',
    "tool: b=B c=C",
  ]);
});

test("a call whose answer was lost gets one, and an answer without a call goes", () => {
  const rows = [
    row(1, USER, "first"),
    row(2, ASSISTANT, "", calls("a", "b")),
    row(3, TOOL, "B", answer("b")),
    row(4, SYSTEM, "The outcome of the turn is not known.", { boundary: true }),
    row(5, TOOL, "stray", answer("z")),
    row(6, USER, "as stored", own),
  ];
  expect(shown(parts(rows))).toEqual([
    "user: first",
    'assistant: <a {"a":1}> <b {"a":1}>',
    `tool: a=${NO_RESULT} b=B`,
    "user: [The outcome of the turn is not known.]\n\nthe input",
  ]);
});

test("a summary stands before what it does not cover, also where it covers the input", () => {
  const rows = [
    row(1, USER, "first", { compacted: true }),
    row(2, ASSISTANT, "one", { compacted: true }),
    row(3, USER, "as stored", own),
    row(4, SYSTEM, "They met.", own),
    row(5, ASSISTANT, "on it", { ...own, ...calls("a") }),
    row(6, TOOL, "A", { ...own, ...answer("a") }),
  ];
  const summary = "user: [Summary of the conversation so far]\nThey met.\n\nthe input";
  const turn = ['assistant: on it <a {"a":1}>', "tool: a=A"];
  expect(shown(parts(rows))).toEqual([summary, ...turn]);
  expect(shown(parts(rows.filter(({ row: number }) => number !== 3n)))).toEqual([summary, ...turn]);
});

test("another agent's words are named as its, a person's stand alone", () => {
  const author = { kind: AuthorKind.AUTHOR_KIND_PEER_AGENT, id: "agent:far/ada", displayName: "Ada", sentBy: "" };
  const person = { kind: AuthorKind.AUTHOR_KIND_CLIENT, id: "client:eve", displayName: "Eve", sentBy: "" };
  const rows = [row(1, USER, "hi", { author }), row(2, ASSISTANT, "ho"), row(3, USER, "you", { author: person })];
  expect(shown(parts(rows))).toEqual([
    "user: Message from Ada (@far/ada):\nhi",
    "assistant: ho",
    "user: you\n\nthe input",
  ]);
});

test("a retry goes on behind the row of the attempt before", () => {
  const rows = [
    row(1, USER, "as stored"),
    row(2, ASSISTANT, "looking", calls("a")),
    row(3, TOOL, "A", answer("a")),
    row(4, ASSISTANT, "half an ans"),
  ];
  expect(shown(parts(rows, { attempt: 2 }))).toEqual([
    "user: the input",
    'assistant: looking <a {"a":1}>',
    "tool: a=A",
    "assistant: half an ans",
    "user: [The answer above was broken off. Go on from there.]",
  ]);
});
