import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { Turn } from "../gen/talaria/gateway/v1/turn_service.js";
import { MessageRole } from "../gen/talaria/types/v1/conversation.js";
import { ConversationMessage } from "../gen/talaria/types/v1/conversation.js";
import type { TalariaConnection } from "./talariaClient.js";
import { wholeAnswer } from "./wholeAnswer.js";

const { MESSAGE_ROLE_ASSISTANT: assistant, MESSAGE_ROLE_USER: user } = MessageRole;
const row = (role: MessageRole, text: string, executionId = "exe_1"): ConversationMessage =>
  ConversationMessage.fromPartial({ role, text, executionId });

/** A gateway whose transcript has these pages. */
function paged(...pages: (readonly ConversationMessage[])[]): Pick<TalariaConnection, "call"> {
  const call = (_method: unknown, { pageToken }: { readonly pageToken: string }) => {
    const at = Number(pageToken);
    return Promise.resolve({ messages: pages[at], nextPageToken: at + 1 < pages.length ? String(at + 1) : "" });
  };
  return { call: call as unknown as TalariaConnection["call"] };
}

function turnWith(answer: string): Turn {
  const reference = {
    sha256: createHash("sha256").update(answer).digest(),
    sizeBytes: BigInt(Buffer.byteLength(answer)),
  };
  return Turn.fromPartial({ sessionId: "ses_1", executionId: "exe_1", result: { answer: reference } });
}

test("an answer that is in the receipt is asked of nobody", async () => {
  const turn = Turn.fromPartial({ result: { finalResponse: "short" } });
  expect(await wholeAnswer({ call: () => Promise.reject(new Error("asked")) }, turn)).toBe("short");
  expect(await wholeAnswer({ call: () => Promise.reject(new Error("asked")) }, Turn.fromPartial({}))).toBe("");
});

test("a long one is its execution's last rows, over pages, without what was said before", async () => {
  const pages = [
    [row(assistant, "other", "exe_0"), row(user, "question")],
    [row(assistant, "let me look"), row(assistant, "längs"), row(user, "meanwhile")],
    [row(assistant, "tes Wort"), row(assistant, "later", "exe_2")],
  ];
  expect(await wholeAnswer(paged(...pages), turnWith("längstes Wort"))).toBe("längstes Wort");
});

test("what is not there, or is something else, is said and not made up", async () => {
  const gone = expect.objectContaining({ reason: "UNKNOWN_ERROR" }) as Error;
  await expect(wholeAnswer(paged([]), turnWith("answer"))).rejects.toThrow(gone);
  await expect(wholeAnswer(paged([row(assistant, "an answer")]), turnWith("answer"))).rejects.toThrow(gone);
});
