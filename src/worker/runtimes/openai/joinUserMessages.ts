import type { ChatMessage, ChatPrompt } from "../../packages/modelPackages.js";

/** Joins neighbouring user messages: some chat templates refuse two in a row. Pure. */
export function joinUserMessages(messages: readonly ChatMessage[]): ChatPrompt {
  const joined: ChatMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.role !== "user" || last?.role !== "user") {
      joined.push(message);
      continue;
    }
    const [first, ...rest] = message.content;
    const before = last.content.at(-1);
    const content =
      before?.type === "text" && first?.type === "text"
        ? [...last.content.slice(0, -1), { type: "text" as const, text: `${before.text}\n\n${first.text}` }, ...rest]
        : [...last.content, ...message.content];
    joined[joined.length - 1] = { role: "user", content };
  }
  return joined;
}
