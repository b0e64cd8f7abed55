import { expect, test } from "vitest";

import { ConversationMessage, MessageRole } from "../../../gen/talaria/types/v1/conversation.js";
import { agentPrompt } from "./agentPrompt.js";

test("an input without instructions or history is the prompt as it is", () => {
  expect(agentPrompt({ instructions: ["", ""], rows: [], attribution: "", text: "Hello" })).toBe("Hello");
});

test("instructions, conversation and an attributed input are told apart", () => {
  const row = (role: MessageRole, text: string) => ConversationMessage.fromPartial({ role, text });
  const rows = [row(MessageRole.MESSAGE_ROLE_USER, "Hi"), row(MessageRole.MESSAGE_ROLE_ASSISTANT, "Hello")];
  const prompt = agentPrompt({
    instructions: ["Be brief.", "", "Be kind."],
    rows,
    attribution: "[from ada]",
    text: "Go on",
  });
  expect(prompt).toBe(
    "# Instructions\n\nBe brief.\n\nBe kind.\n\n# The conversation so far\n\nUser: Hi\n\nAssistant: Hello\n\n# What to answer\n\n[from ada]\nGo on",
  );
});
